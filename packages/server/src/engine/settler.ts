import { Problem } from "../domain/problem.ts";
import type { Settlement } from "../domain/settlement.ts";
import { createGroupCommit, type GroupCommit } from "../store/group-commit.ts";
import type { Sql } from "../store/sql.ts";
import { markSuperseded, type Settled, settleAttempts } from "../store/task-settlements.ts";
import type { Log } from "./log.ts";

const MAX_ITEMS = 300;
const RETRY_MS = 200;

/** Null: the claim no longer stood, the verdict changed nothing. */
export type Settler = GroupCommit<Settlement, Settled | null>;

/**
 * Settles in groups and does not give up: while the database is away the answers wait here, each with its slot, and
 * are settled when it is back, unless the fence is gone by then.
 */
export function createSettler(deps: {
  readonly sql: Sql;
  readonly nodeId: () => number;
  readonly log: Log;
}): Settler {
  const { sql, log } = deps;

  async function flush(settlements: readonly Settlement[]): Promise<readonly (Settled | null)[]> {
    for (;;) {
      try {
        const settled = await settleAttempts(sql, settlements, deps.nodeId());
        await noteSuperseded(settlements.filter((_, index) => settled[index] === null));
        return settled;
      } catch (error) {
        if (!(error instanceof Problem)) return separately(settlements, error);
        log.warn({ waiting: settlements.length }, "settle.waits_for_database");
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** The database refused the group. One record that it cannot hold must not keep the others from being settled. */
  async function separately(
    settlements: readonly Settlement[],
    error: unknown,
  ): Promise<readonly (Settled | null)[]> {
    const [only, ...more] = settlements;
    if (only === undefined) return [];
    if (more.length === 0) return flush([withoutResult(only, error)]);
    const settled: (Settled | null)[] = [];
    for (const settlement of settlements) settled.push(...(await flush([settlement])));
    return settled;
  }

  function withoutResult(settlement: Settlement, error: unknown): Settlement {
    const { claim, verdict } = settlement;
    if (verdict.kind !== "completed" && (verdict.kind !== "failed" || verdict.result === null)) throw error;
    log.error({ task: claim.id, err: error }, "settle.result_dropped");
    const result = { statusCode: settlement.attempt.responseCode ?? 0, headers: {}, body: "", duration: 0 };
    const emptied = verdict.kind === "failed" ? { ...verdict, result: null } : { ...verdict, result };
    return { ...settlement, verdict: emptied };
  }

  async function noteSuperseded(late: readonly Settlement[]): Promise<void> {
    for (const settlement of late) {
      await markSuperseded(sql, settlement).catch((error) =>
        log.warn({ err: error }, "superseded.not_noted"),
      );
    }
  }

  return createGroupCommit({ flush, maxItems: MAX_ITEMS });
}
