import type { Principal } from "./principal.ts";

/** An API key, without the key: that is known to its owner alone. */
export interface ApiKey {
  /** `key_…`. */
  readonly id: string;
  readonly name: string;
  readonly environment: Principal["environment"];
  /** How the key begins, to tell it from others. */
  readonly prefix: string;
  readonly createdAt: Date;
  /** To the minute; null if it never was. */
  readonly lastUsedAt: Date | null;
}

/** A key at the one moment that it is shown. */
export interface MintedApiKey extends Omit<ApiKey, "lastUsedAt"> {
  readonly key: string;
}

export interface RevokedApiKey {
  readonly id: string;
  readonly name: string;
  readonly revokedAt: Date;
}

/** Far more than a team has programs; a program that makes a key for every run must come to an end. */
export const MOST_ACTIVE_KEYS = 100;
