import { wholeSeconds } from "../../domain/whole-seconds.ts";
import { createGroupCommit } from "../../store/group-commit.ts";
import { takeHits } from "../../store/identity/source-hits.ts";
import type { Sql } from "../../store/sql.ts";

/** Limits up to this many a minute are counted exactly. It is also the maximum number of hits in a team's log. */
const EXACT_UP_TO = 600;
const MINUTE_SECONDS = 60;
/** How long a block may be used. */
const USE_SECONDS = 1;

/** A team's remaining requests after one more. */
export interface Allowance {
  /** Null is no limit. */
  readonly limit: number | null;
  /** Over all nodes as of the last query, minus those used here since. */
  readonly remaining: number;
  /** Unix time in seconds at which the oldest counted request is a minute old. */
  readonly resetSeconds: number;
  /** Seconds to wait; null if this request was allowed. */
  readonly retryAfterSeconds: number | null;
}

export interface TeamMeter {
  readonly limit: number;
  count(): Allowance | Promise<Allowance>;
}

/** A waiting request, or a query ahead of need. */
type Ask = "request" | "ahead";

/**
 * Counts the requests of one team on one node, against a log that all nodes share: the hits of the last minute.
 *
 * A small limit is exact to a request: each request is a hit, and waits for the look that counts it. Requests that arrive while
 * a look is under way share the next.
 *
 * A large limit asks nothing for most requests: a hit stands for a block of permits, which this node may use up within a
 * second. The hit counts for a second longer than a minute, so that no minute sees more than the limit, wherever its
 * permits were used. The rest of a block after its second is not lost: its hit is renewed, that is counted as of
 * now, and the rest may be used for another second. So a team may be refused early by what its nodes hold, which is a
 * block or two each (a block is a 600th of the limit), and by the part of a block by which the limit is no multiple.
 *
 * A limit with blocks of another size counts in a log of its own: for the minute of such a change both are in force.
 */
export function createTeamMeter(deps: {
  readonly sql: Sql;
  readonly monotonicMs: () => number;
  readonly teamId: number;
  readonly limit: number;
}): TeamMeter {
  const { sql, monotonicMs, teamId, limit } = deps;
  const block = Math.ceil(limit / EXACT_UP_TO);
  const isExact = block === 1;
  const source = isExact ? `team ${teamId}` : `team ${teamId} by ${block}`;
  const log = {
    most: Math.floor(limit / block),
    seconds: isExact ? MINUTE_SECONDS : MINUTE_SECONDS + USE_SECONDS,
  };
  /** Permits at which to query ahead: at full speed they last for 25 ms. */
  const low = Math.floor(block / 4);

  /** Requests that this node may allow without a query, until when, and the time of their hits. */
  let permits = 0;
  let usableUntilMs = 0;
  let stamp: string | null = null;
  /** Further permits that the last query saw. */
  let leftElsewhere = 0;
  let resetSeconds = 0;
  /** No request fits on any node before `fullUntilMs`. */
  let fullUntilMs = 0;
  let freeAtMs = 0;
  let isLookingAhead = false;

  const looks = createGroupCommit<Ask, Allowance>({
    flush: look,
    maxItems: Number.MAX_SAFE_INTEGER,
    soon: setImmediate,
  });

  async function look(asks: readonly Ask[]): Promise<Allowance[]> {
    const sentMs = monotonicMs();
    const waiting = asks.reduce((sum, ask) => sum + (ask === "request" ? 1 : 0), 0);
    const held = Math.ceil(permits / block);
    const missing = isExact ? waiting : waiting + low + 1 - permits;
    const wanted = held + Math.max(0, Math.ceil(missing / block));
    const renewal = stamp === null ? null : { stamp, count: held };
    const taken = await takeHits(sql, source, wanted, log, renewal);

    // Fewer than held: their hits were too old to be renewed, and so are their permits.
    const added = Math.max(0, taken.granted - held) * block;
    permits = Math.min(permits + added, taken.granted * block);
    usableUntilMs = sentMs + USE_SECONDS * 1000;
    stamp = taken.stamp;
    leftElsewhere = taken.left * block;
    resetSeconds = Math.ceil(taken.resetAtMs / 1000);
    const isFull = taken.left === 0;
    fullUntilMs = isFull ? sentMs + taken.waitMs : 0;
    freeAtMs = isFull ? monotonicMs() + taken.waitMs : 0;
    // Waiting requests count as of the time of the query, however late it returns.
    return asks.map((ask) => (ask === "ahead" ? allowance(null) : permits > 0 ? allow() : refuse()));
  }

  function lookAhead(): void {
    if (isLookingAhead) return;
    isLookingAhead = true;
    const done = () => {
      isLookingAhead = false;
    };
    // If it fails, a request without permits queries again and gets the error.
    looks.add("ahead").then(done, done);
  }

  function allowance(retryAfterSeconds: number | null): Allowance {
    return { limit, remaining: leftElsewhere + permits, resetSeconds, retryAfterSeconds };
  }

  function allow(): Allowance {
    permits -= 1;
    return allowance(null);
  }

  function refuse(): Allowance {
    return allowance(wholeSeconds(freeAtMs - monotonicMs()));
  }

  return {
    limit,
    count() {
      const nowMs = monotonicMs();
      if (permits > 0 && nowMs < usableUntilMs) {
        const mayAdd = permits <= low + 1 && nowMs >= fullUntilMs;
        const isOld = usableUntilMs - nowMs < (USE_SECONDS * 1000) / 2;
        if (mayAdd || isOld) lookAhead();
        return allow();
      }
      // Only time makes room: until then no query is needed, unless the permits have only expired.
      return permits === 0 && nowMs < fullUntilMs ? refuse() : looks.add("request");
    },
  };
}
