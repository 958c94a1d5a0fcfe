/**
 * A code or refresh token was presented after it had been used: it has leaked, or its successor has. The family was
 * ended, and that must be kept: whoever catches this lets the transaction commit.
 */
export class ReplayedGrant extends TypeError {
  override readonly name = "ReplayedGrant";
  readonly reason: "code_replayed" | "refresh_token_replayed";
  /** The team whose access ended now; null if it had ended before. */
  readonly endedIn: number | null;

  constructor(reason: ReplayedGrant["reason"], endedIn: number | null) {
    super("A code or refresh token was presented twice");
    this.reason = reason;
    this.endedIn = endedIn;
  }
}
