/** The error codes of RFC 6749 (4.1.2.1 and 5.2), with their status at the token endpoint. */
const REFUSALS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_scope: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  access_denied: 403,
  server_error: 500,
  temporarily_unavailable: 503,
} as const;

export type OAuthErrorCode = keyof typeof REFUSALS;

/** Characters that the RFC does not allow in a description: non-ASCII, quotes and backslashes. */
const NOT_ALLOWED = /[^ !#-[\]-~]/g;
const LONGEST_DESCRIPTION = 200;

/** An expected OAuth refusal. The description is for people and never contains a secret. */
export class OAuthRefusal extends Error {
  override readonly name = "OAuthRefusal";
  readonly error: OAuthErrorCode;
  readonly description: string;
  readonly status: number;

  constructor(error: OAuthErrorCode, description: string) {
    const safe = description.replace(NOT_ALLOWED, "?").slice(0, LONGEST_DESCRIPTION);
    super(safe);
    this.error = error;
    this.description = safe;
    this.status = REFUSALS[error];
  }
}
