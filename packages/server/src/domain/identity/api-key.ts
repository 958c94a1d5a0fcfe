import type { Principal } from "./principal.ts";

/** An API key without its secret, which only its owner knows. */
export interface ApiKey {
  /** `key_…`. */
  readonly id: string;
  readonly name: string;
  readonly environment: Principal["environment"];
  /** The beginning of the key, to identify it. */
  readonly prefix: string;
  readonly createdAt: Date;
  /** Rounded to a minute; null if never used. */
  readonly lastUsedAt: Date | null;
}

/** A key at its creation, with the secret. */
export interface MintedApiKey extends Omit<ApiKey, "lastUsedAt"> {
  readonly key: string;
}

export interface RevokedApiKey {
  readonly id: string;
  readonly name: string;
  readonly revokedAt: Date;
}

/** Far more than a team has programs; stops a program that creates a key on every run. */
export const MOST_ACTIVE_KEYS = 100;
