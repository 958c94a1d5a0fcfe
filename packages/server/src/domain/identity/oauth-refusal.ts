/** The words of RFC 6749 (4.1.2.1 and 5.2) that programs decide by, with the status of each at the token endpoint. */
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

/** All but the characters that the RFC lets a description hold: ASCII without quotes and backslashes. */
const NOT_ALLOWED = /[^ !#-[\]-~]/g;
const LONGEST_DESCRIPTION = 200;

/** An expected refusal in the language of OAuth. The description is for people and never holds a secret. */
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
