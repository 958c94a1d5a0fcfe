import { Problem } from "../domain/problem.ts";
import type { Settlement } from "../domain/settlement.ts";
import { publicTaskId } from "../domain/task-id.ts";
import type { Time } from "../domain/time.ts";
import type { Verdict } from "../domain/verdict.ts";
import { createGroupCommit, type GroupCommit } from "../store/group-commit.ts";
import { inPortions } from "../store/portions.ts";
import { type Database, Unstorable } from "../store/sql.ts";
import { createSubscriberMemory } from "../store/tasks/event-writes.ts";
import {
  markSuperseded,
  type Settled,
  settleAttempts,
  withEarlier,
} from "../store/tasks/task-settlements.ts";
import type { Followers } from "./followers.ts";
import type { Log } from "./log.ts";
import { type EngineMeter, meterFlush } from "./meter.ts";

const MAX_ITEMS = 300;
const RETRY_MS = 200;
const UNSTORABLE = "The target's answer holds characters that cannot be stored";

/** Null if the claim was no longer valid and the verdict changed nothing. */
export interface Settler extends GroupCommit<Settlement, Settled | null> {
  /** From now on, verdicts that cannot be settled at once are left to the reaper. */
  giveUp(): void;
}

/**
 * Settles in groups and keeps trying: while the database is unreachable the verdicts wait here, each with its slot.
 * They are settled when it is back, unless the fence has changed.
 */
export function createSettler(deps: {
  readonly sql: Database;
  readonly workerId: () => number;
  readonly time: Time;
  readonly log: Log;
  readonly meter?: EngineMeter;
  /** Stores the tasks that are created with a settlement. */
  readonly followers?: Pick<Followers, "store">;
}): Settler {
  const { sql, time, log } = deps;
  const subscribers = createSubscriberMemory();
  let patient = true;

  async function flush(
    settlements: readonly Settlement[],
    isStripped = false,
  ): Promise<readonly (Settled | null)[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        const [first] = settlements;
        const settled =
          settlements.length === 1 && first !== undefined && hasFollowers(first)
            ? [await settleWithFollowers(first)]
            : await settleAttempts(sql, settlements, deps.workerId(), subscribers);
        // An earlier try may have committed although its answer was lost.
        const all = tries === 1 ? settled : await withEarlier(sql, settlements, settled);
        await noteSuperseded(settlements.filter((_, index) => all[index] === null));
        return all;
      } catch (error) {
        if (error instanceof Unstorable && !isStripped) return separately(settlements);
        if (!patient || error instanceof Unstorable) throw error;
        const isAway = error instanceof Problem;
        log[isAway ? "warn" : "error"](
          { waiting: settlements.length, ...(!isAway && { err: error }) },
          "settle.waits",
        );
        await new Promise<void>((resolve) => time.setTimer(resolve, RETRY_MS));
      }
    }
  }

  /** In one commit: a settlement without its followers, or the other way round, would lose or repeat a callback. */
  async function settleWithFollowers(settlement: Settlement): Promise<Settled | null> {
    const done = await sql.transaction(async (within) => {
      const [settled = null] = await settleAttempts(within, [settlement], deps.workerId());
      if (settled === null) return null;
      const tasks = settlement.followers?.(settled.status === "failed") ?? [];
      return { settled, report: await deps.followers?.store(within, tasks) };
    });
    done?.report?.();
    return done?.settled ?? null;
  }

  /** A settlement with followers is a transaction of its own; it must not cost the others their shared statement. */
  async function flushPortions(settlements: readonly Settlement[]): Promise<readonly (Settled | null)[]> {
    if (!settlements.some(hasFollowers)) return flushShared(settlements);
    const shared = settlements.filter((settlement) => !hasFollowers(settlement));
    const settled = new Map<Settlement, Settled | null>();
    for (const [index, each] of (await flushShared(shared)).entries()) {
      const settlement = shared[index];
      if (settlement !== undefined) settled.set(settlement, each);
    }
    for (const settlement of settlements.filter(hasFollowers))
      settled.set(settlement, (await flush([settlement]))[0] ?? null);
    return settlements.map((settlement) => settled.get(settlement) ?? null);
  }

  async function flushShared(settlements: readonly Settlement[]): Promise<readonly (Settled | null)[]> {
    if (settlements.length === 0) return [];
    const portions = inPortions(settlements, weightOf);
    if (portions.length === 1) return flush(settlements);
    const settled: (Settled | null)[] = [];
    for (const portion of portions) settled.push(...(await flush(portion)));
    return settled;
  }

  /** A record that the database cannot store must not block the others. */
  async function separately(settlements: readonly Settlement[]): Promise<readonly (Settled | null)[]> {
    const [only] = settlements;
    if (settlements.length === 1 && only !== undefined) {
      log.error({ task: publicTaskId(only.claim) }, "settle.answer_dropped");
      return flush([withoutAnswer(only)], true);
    }
    const settled: (Settled | null)[] = [];
    for (const settlement of settlements) settled.push(...(await flush([settlement])));
    return settled;
  }

  async function noteSuperseded(late: readonly Settlement[]): Promise<void> {
    for (const settlement of late) {
      await markSuperseded(sql, settlement).catch((error) =>
        log.warn({ err: error }, "superseded.not_recorded"),
      );
    }
  }

  return Object.assign(
    createGroupCommit<Settlement, Settled | null>({
      flush: meterFlush("settle", deps, flushPortions),
      maxItems: MAX_ITEMS,
      soon: time.soon,
      // Settlements that share a commit cost less. Ordered tasks and those of flows wait for the pause, so it is short.
      pause: time.shortly,
    }),
    {
      giveUp() {
        patient = false;
      },
    },
  );
}

function hasFollowers({ followers }: Settlement): boolean {
  return followers !== undefined && followers !== null;
}

function weightOf({ verdict }: Settlement): number {
  return "result" in verdict && verdict.result !== null ? verdict.result.body.length : 0;
}

/** The same verdict without text from outside. */
function withoutAnswer({ claim, attempt, verdict }: Settlement): Settlement {
  return {
    claim,
    attempt: { ...attempt, error: UNSTORABLE },
    verdict: withoutWords(verdict, attempt.responseCode),
  };
}

function withoutWords(verdict: Verdict, statusCode: number | null): Verdict {
  if (verdict.kind === "waiting" || verdict.kind === "polling") return verdict;
  if (verdict.kind !== "completed")
    return { ...verdict, error: UNSTORABLE, ...("result" in verdict && { result: null }) };
  return {
    ...verdict,
    result: { statusCode: statusCode ?? 0, headers: {}, body: "", duration: 0, truncated: true },
  };
}
