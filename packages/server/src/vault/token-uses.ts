// When each token was last put into a call, for the people who look after the vault. A call pays for an entry in memory;
// a round a minute writes all of them in one statement. A node that is killed loses the minute since its last round: the
// token then shows its use before.
import { formatId, parseId } from "../domain/public-id.ts";
import { atMost, type Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { writeTokenUses } from "../store/vault/token-uses.ts";

const ROUND_MS = 60_000;
const LAST_ROUND_MS = 500;

interface Use {
  readonly teamId: number;
  /** By the clock that only rises: the database is told how long ago it was, and its own clock says when that was. */
  readonly atMs: number;
}

export interface TokenUses {
  /** Only of a token that the vault has just opened for this team. */
  note(teamId: number, tokenId: string): void;
  /** Writes what was noted. Returns how long to nap. */
  writeOnce(): Promise<number>;
  /** The same for a node that stops: what cannot be written in a moment is lost. */
  writeLast(): Promise<void>;
}

export function createTokenUses(deps: { readonly sql: Sql; readonly time: Time }): TokenUses {
  const { sql, time } = deps;
  /** By the token's id. No larger than the tokens are many. */
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
      // What was not written has its turn in the next round, unless the token was used again meanwhile.
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
