/** Errors are identified by code, never by message: messages change between releases and may contain header values. */
export function readErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** This process (EMFILE) or the whole machine (ENFILE) has no file descriptor left. */
export function isOutOfFiles(code: string): boolean {
  return code === "EMFILE" || code === "ENFILE";
}
