/** Why a mail was refused. Never the library's or the server's text, which may repeat the mail's content. */
export interface MailFailure {
  readonly code: string;
  /** Whether another try may succeed. */
  readonly isTemporary: boolean;
}

/** The connection failed before the server answered. */
const CONNECTION: ReadonlySet<string> = new Set(["ECONNECTION", "ETIMEDOUT", "ESOCKET", "EDNS"]);

export function mailFailureOf(error: unknown): MailFailure {
  const code = codeOf(error);
  const status = statusOf(error);
  if (status !== null) return { code: `${code} ${status}`, isTemporary: status >= 400 && status < 500 };
  return { code, isTemporary: CONNECTION.has(code) };
}

/** Only what can be a code: nothing else of an error is shown. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && /^E[A-Z0-9_]{1,40}$/.test(code) ? code : "unknown";
}

/** What the server answered; null if it did not. */
function statusOf(error: unknown): number | null {
  const status = error instanceof Error && "responseCode" in error ? error.responseCode : null;
  return typeof status === "number" && status >= 200 && status <= 599 ? status : null;
}
