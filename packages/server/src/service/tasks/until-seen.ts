import type { Time } from "../../domain/time.ts";
import type { Sql } from "../../store/sql.ts";
import { olderStatements } from "../../store/tasks/event-reads.ts";

/** Statements that create or change tasks are given up after 2 s, and a transaction that waits for its next statement after 3 s. */
const LONGEST_TRANSACTION_MS = 5_000;
const LOOK_MS = 20;

/**
 * Resolves once no transaction is under way that began before this one was committed. After a team's subscription: what such a transaction
 * changed before, it wrote no events for, and a reader that is told `ready` before its commit would never learn of it.
 */
export async function untilSeen(sql: Sql, time: Time, xid: string): Promise<void> {
  const untilMs = time.monotonicMs() + LONGEST_TRANSACTION_MS;
  let older = await olderStatements(sql, xid);
  while (older.length > 0 && time.monotonicMs() < untilMs) {
    await new Promise<void>((resolve) => void time.setTimer(resolve, LOOK_MS));
    const left = await olderStatements(sql, xid);
    older = older.filter((name) => left.includes(name));
  }
}
