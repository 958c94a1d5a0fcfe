import type { Time } from "../../domain/time.ts";
import type { Sql } from "../../store/sql.ts";
import { olderStatements } from "../../store/tasks/event-reads.ts";

/** Statements that create or change tasks are given up by then. */
const LONGEST_STATEMENT_MS = 2_000;
const LOOK_MS = 20;

/**
 * Resolves once no statement is under way that began before this transaction was committed. After a team's subscription:
 * such a statement writes no events, and a reader that is told `ready` before its end would never learn what it changed.
 */
export async function untilSeen(sql: Sql, time: Time, xid: string): Promise<void> {
  const untilMs = time.monotonicMs() + LONGEST_STATEMENT_MS;
  let older = await olderStatements(sql, xid);
  while (older.length > 0 && time.monotonicMs() < untilMs) {
    await new Promise<void>((resolve) => void time.setTimer(resolve, LOOK_MS));
    const left = await olderStatements(sql, xid);
    older = older.filter((name) => left.includes(name));
  }
}
