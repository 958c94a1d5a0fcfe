// The last use of each token, for the vault's administrators. A call adds an entry in memory; a round per minute writes
// all entries in one statement. A killed node loses the minute since its last round: the token then shows its earlier
// use.
import { formatId, parseId } from "../domain/public-id.ts";
import { atMost, type Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { writeTokenUses } from "../store/vault/token-uses.ts";

const ROUND_MS = 60_000;
const LAST_ROUND_MS = 500;

interface Use {
  readonly teamId: number;
  /** Monotonic: the database gets the age, and its own clock gives the time. */
  readonly atMs: number;
}

export interface TokenUses {
  /** Only for a token that the vault has just decrypted for this team. */
  note(teamId: number, tokenId: string): void;
  /** Writes the recorded uses. Returns the milliseconds until the next round. */
  writeOnce(): Promise<number>;
  /** The same on a stop; uses that cannot be written quickly are lost. */
  writeLast(): Promise<void>;
}

export function createTokenUses(deps: { readonly sql: Sql; readonly time: Time }): TokenUses {
  const { sql, time } = deps;
  /** By token id. At most as large as the number of tokens. */
  let noted = new Map<string, Use>();

  async function writeOnce(): Promise<number> {
    if (noted.size === 0) return ROUND_MS;
    const uses = noted;
    noted = new Map();
    const nowMs = time.monotonicMs();
    const rows = [...uses].flatMap(([tokenId, { teamId, atMs }]) => {
      const id = parseId("tok", tokenId);
      return id === null ? [] : [{ teamId, id, agoMs: nowMs - atMs }];
    });
    try {
      for (const id of await writeTokenUses(sql, rows)) uses.delete(formatId("tok", id));
    } finally {
      // Unwritten uses are retried in the next round, unless the token was used again meanwhile.
      for (const [tokenId, use] of uses) if (!noted.has(tokenId)) noted.set(tokenId, use);
    }
    return ROUND_MS;
  }

  return {
    note(teamId, tokenId) {
      noted.set(tokenId, { teamId, atMs: time.monotonicMs() });
    },
    writeOnce,
    writeLast: () => atMost(time, writeOnce().then(nothing, nothing), LAST_ROUND_MS),
  };
}

const nothing = () => {};
