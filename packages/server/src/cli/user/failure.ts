import { ApiError, ConnectionError } from "../sdk.ts";

/** Why a command failed, in one line. */
export function describeFailure(error: unknown): string {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll("\n", " ");
  if (error instanceof ApiError)
    return `${message} (${error.status} ${error.code}${error.requestId === null ? "" : `, request ${error.requestId}`})`;
  return error instanceof ConnectionError ? `${message}; run bellhop doctor to find the reason` : message;
}
