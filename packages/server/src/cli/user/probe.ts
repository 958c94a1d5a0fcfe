/** A server's answer without a credential; null with the reason if it cannot be reached. */
export type Probed =
  | { readonly status: number; readonly date: Date | null; readonly json: unknown }
  | { readonly status: null; readonly why: string };

const ANSWER_MS = 10_000;

/** One request without a credential, for checks of the status and headers. */
export async function probe(url: string, path: string): Promise<Probed> {
  try {
    const answer = await fetch(new URL(path, `${url}/`), {
      headers: { accept: "application/json" },
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const date = answer.headers.get("date");
    return {
      status: answer.status,
      date: date === null ? null : new Date(date),
      json: await answer.json().catch(() => null),
    };
  } catch (error) {
    return { status: null, why: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message;
  return error.name === "TimeoutError" ? `no answer within ${ANSWER_MS / 1000} s` : error.message;
}
