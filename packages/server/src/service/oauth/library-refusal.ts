import { ErrorType, OAuthException } from "@jmondi/oauth2-server";
import { type OAuthErrorCode, OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";

const CODES: Readonly<Partial<Record<ErrorType, OAuthErrorCode>>> = {
  [ErrorType.InvalidRequest]: "invalid_request",
  [ErrorType.InvalidClient]: "invalid_client",
  [ErrorType.InvalidGrant]: "invalid_grant",
  [ErrorType.InvalidScope]: "invalid_scope",
  [ErrorType.UnauthorizedScope]: "invalid_scope",
  [ErrorType.UnauthorizedClient]: "unauthorized_client",
  [ErrorType.UnsupportedGrantType]: "unsupported_grant_type",
  [ErrorType.AccessDenied]: "access_denied",
};

const BAD_GRANT =
  "The code or refresh token is unknown, has expired, was used before, or does not go with the rest of the request";

/** What the library refused, in the words of the RFC; whatever else was thrown stays what it is. */
export function toRefusal(error: unknown): unknown {
  if (!(error instanceof OAuthException)) return error;
  const code = CODES[error.errorType];
  if (code === undefined) return error;
  return new OAuthRefusal(
    code,
    error.errorDescription ?? (code === "invalid_grant" ? BAD_GRANT : error.error),
  );
}
