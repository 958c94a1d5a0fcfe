/** What a run stored in the vault, what it asked for with it, and where a credential was found that is nowhere to be. */
export interface VaultRecord {
  readonly tokens: readonly VaultToken[];
  /** Tasks whose header names a token, and that have another header beside it, which is sent as it is. */
  readonly tasks: readonly { readonly nonce: string; readonly tokenId: string; readonly literal: string }[];
  readonly leaks: readonly Leak[];
  /** Rows that the newest key has not sealed, each named. */
  readonly unsealed: readonly string[];
}

export interface VaultToken {
  readonly id: string;
  /** What a call gets in place of the id. */
  readonly value: string;
  /** When a client first asked to revoke it, and when it was told that it is. */
  readonly revoking: number | null;
  readonly revokedAt: number | null;
}

export interface Leak {
  readonly where: string;
  readonly at: number | null;
}
