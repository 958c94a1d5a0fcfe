/** Deep enough for a problem, the error behind it and what the system said. */
const MOST_CAUSES = 3;

/**
 * What the log tells of an error, and nothing else that hangs on it: the driver attaches the connection, with its secret
 * and with the values of the statement under way, and PostgreSQL's details quote rows.
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

/** SQLSTATE class 22, data exceptions: the message has the value in it. */
function quotesValues(code: string | undefined): boolean {
  return code !== undefined && /^22[0-9A-Z]{3}$/.test(code);
}
