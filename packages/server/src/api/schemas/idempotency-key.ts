/** ASCII, because a header cannot carry more, and the key may come in either place. */
export const IDEMPOTENCY_KEY_PATTERN = "^[ -~]{1,255}$";
