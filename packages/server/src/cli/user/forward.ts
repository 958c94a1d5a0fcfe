export interface Forwarded {
  readonly status?: number;
  /** Why there was no answer. */
  readonly error?: string;
}

const ANSWER_MS = 30_000;

/** The address with this path and query. The path is never resolved against the address: `//host` would name another host. */
export function atPath(base: string, pathAndQuery: string): string {
  const url = new URL(base);
  const query = pathAndQuery.indexOf("?");
  url.pathname = query === -1 ? pathAndQuery : pathAndQuery.slice(0, query);
  url.search = query === -1 ? "" : pathAndQuery.slice(query);
  url.hash = "";
  return url.href;
}

/** One request from the machine of a developer to a port of it. It is not repeated: the developer sees what came of it. */
export async function forward(request: {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}): Promise<Forwarded> {
  const { url, method, headers, body } = request;
  try {
    const answer = await fetch(url, {
      method,
      headers,
      body: body === "" ? null : body,
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await answer.body?.cancel();
    return { status: answer.status };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return {
      error: cause instanceof Error ? ("code" in cause ? String(cause.code) : cause.message) : String(cause),
    };
  }
}
