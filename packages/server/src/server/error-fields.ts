/** Deep enough for a problem, its cause and the system error. */
const MOST_CAUSES = 3;

/**
 * The fields of an error that are logged, and no others: the driver attaches the connection with its password and the
 * statement's values, and PostgreSQL's details quote rows.
 */
export function errorFields(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return {
    type: error.constructor.name,
    message: quotesValues(code) ? "A value does not fit" : error.message,
    ...(code !== undefined && { code }),
    stack: (error.stack ?? "")
      .split("\n")
      .filter((line) => line.startsWith("    at "))
      .join("\n"),
    ...(error.cause !== undefined && depth < MOST_CAUSES && { cause: errorFields(error.cause, depth + 1) }),
  };
}

/** SQLSTATE class 22, data exceptions: the message contains the value. */
function quotesValues(code: string | undefined): boolean {
  return code !== undefined && /^22[0-9A-Z]{3}$/.test(code);
}
