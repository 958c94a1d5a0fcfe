import type { Time } from "../../domain/time.ts";
import type { Sql } from "../../store/sql.ts";
import { type EventHolder, findEventHolders } from "../../store/tasks/event-holders.ts";

/** Every transaction that changes a task holds events back for some milliseconds. */
const USUAL_MS = 1_000;

/** How far event streams and webhooks are behind, and because of whom. */
export interface EventDelay {
  readonly behindMs: number;
  readonly holder: EventHolder & { readonly since: Date };
}

export interface EventDelayReader {
  /** Null unless a transaction has held events back for a second. */
  read(): Promise<EventDelay | null>;
}

export function createEventDelayReader({
  sql,
  time,
}: {
  readonly sql: Sql;
  readonly time: Pick<Time, "monotonicMs" | "nowMs">;
}): EventDelayReader {
  /** When transactions were first seen. PostgreSQL hides from most roles when those of other users began. */
  let seen = new Map<string, number>();
  return {
    async read() {
      const holders = await findEventHolders(sql);
      const atMs = time.monotonicMs();
      seen = new Map(holders.map(({ name }) => [name, seen.get(name) ?? atMs]));
      let longest: EventDelay | null = null;
      for (const { name, forMs, ...holder } of holders) {
        const behindMs = forMs ?? atMs - (seen.get(name) ?? atMs);
        if (behindMs < Math.max(USUAL_MS, longest?.behindMs ?? 0)) continue;
        longest = { behindMs, holder: { ...holder, since: new Date(time.nowMs() - behindMs) } };
      }
      return longest;
    },
  };
}
