/** A token that was signed by us and has not expired: what it is for, and the secret id by whose hash its row is found. */
export interface VerifiedToken {
  readonly use: TokenUse;
  readonly id: string;
}

export type TokenUse = "session" | "access";

export interface NewToken {
  readonly use: TokenUse;
  readonly id: string;
  /** Whom it speaks for: a user's or an application's public id. */
  readonly subject: string;
  readonly expiresAt: Date;
}

export interface TokenSigner {
  sign(token: NewToken): Promise<string>;
  /** Null for whatever is not a token of ours that counts now. */
  verify(text: string): Promise<VerifiedToken | null>;
}
