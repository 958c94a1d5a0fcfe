import { Problem } from "../domain/problem.ts";
import type { Settlement } from "../domain/settlement.ts";
import { publicTaskId } from "../domain/task-id.ts";
import type { Time } from "../domain/time.ts";
import type { Verdict } from "../domain/verdict.ts";
import { createGroupCommit, type GroupCommit } from "../store/group-commit.ts";
import { type Database, Unstorable } from "../store/sql.ts";
import { createSubscriberMemory } from "../store/tasks/event-writes.ts";
import {
  markSuperseded,
  type Settled,
  settleAttempts,
  withEarlier,
} from "../store/tasks/task-settlements.ts";
import { createJointSettler, isCounted, isJoint, type Joins } from "./joint-settler.ts";
import type { Log } from "./log.ts";
import { type EngineMeter, meterFlush } from "./meter.ts";
import { MIB, type RoundCost, TOLD } from "./round-cost.ts";

const MAX_ITEMS = 300;
/** Characters of bodies that one flush writes at most; a longer body has a flush to itself. */
const MAX_WEIGHT = MIB;
export const SETTLE_COST: RoundCost = {
  rows: MAX_ITEMS,
  bytes: MAX_WEIGHT + MAX_ITEMS * TOLD,
  turns: "in turn",
};
/** One joint transaction holds the rows of so many tasks at most. */
const MAX_JOINT_ITEMS = 100;
const RETRY_MS = 200;
const UNSTORABLE = "The target's answer holds characters that cannot be stored";

type Lane = GroupCommit<Settlement, Settled | null>;
type Settle = (settlements: readonly Settlement[]) => Promise<readonly (Settled | null)[]>;

export interface Settler {
  /** Resolves once it is settled; null if the claim was no longer valid and the verdict changed nothing. */
  add(settlement: Settlement): Promise<Settled | null>;
  /** How many wait to be settled with this one. */
  waitingWith(settlement: Settlement): number;
  /** Resolves when none is waiting or in flight. */
  drained(): Promise<void>;
  /** From now on, verdicts that cannot be settled at once are left to the reaper. */
  giveUp(): void;
}

/**
 * Settles in groups and keeps trying: while the database is unreachable the verdicts wait here, each with its slot.
 * They are settled when it is back, unless the fence has changed.
 *
 * There are three lanes, so that the usual settlements, one statement for each group, wait for no transaction: neither for one that
 * creates callbacks, nor for one that waits for the circuit breakers of a queue. In each, teams take turns.
 */
export function createSettler(deps: {
  readonly sql: Database;
  readonly workerId: () => number;
  readonly time: Time;
  readonly log: Log;
  readonly meter?: EngineMeter;
  readonly joins?: Joins;
}): Settler {
  const { sql, time, log } = deps;
  const subscribers = createSubscriberMemory();
  let patient = true;

  async function flush(
    settle: Settle,
    settlements: readonly Settlement[],
    isStripped = false,
  ): Promise<readonly (Settled | null)[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        const settled = await settle(settlements);
        // An earlier try may have committed although its answer was lost.
        const all = tries === 1 ? settled : await withEarlier(sql, settlements, settled);
        await noteSuperseded(settlements.filter((_, index) => all[index] === null));
        return all;
      } catch (error) {
        if (error instanceof Unstorable && !isStripped) return separately(settle, settlements);
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

  const plain: Settle = (settlements) => settleAttempts(sql, settlements, deps.workerId(), subscribers);
  const joint = createJointSettler({ ...deps.joins, sql });

  async function flushPlain(settlements: readonly Settlement[]): Promise<readonly (Settled | null)[]> {
    const settled = await flush(plain, settlements);
    for (const [index, { claim, report }] of settlements.entries())
      if (report && settled[index]) deps.joins?.hosts?.succeeded(claim, report);
    return settled;
  }

  /** A record that the database cannot store must not block the others. */
  async function separately(
    settle: Settle,
    settlements: readonly Settlement[],
  ): Promise<readonly (Settled | null)[]> {
    const [only] = settlements;
    if (settlements.length === 1 && only !== undefined) {
      log.error({ task: publicTaskId(only.claim) }, "settle.answer_dropped");
      return flush(settle, [withoutAnswer(only)], true);
    }
    const settled: (Settled | null)[] = [];
    for (const settlement of settlements) settled.push(...(await flush(settle, [settlement])));
    return settled;
  }

  async function noteSuperseded(late: readonly Settlement[]): Promise<void> {
    for (const settlement of late) {
      await markSuperseded(sql, settlement).catch((error) =>
        log.warn({ err: error }, "superseded.not_recorded"),
      );
    }
  }

  // Settlements that share a commit cost less. Ordered tasks and those of flows wait for the pause, so it is short.
  const sharing = {
    soon: time.soon,
    pause: time.shortly,
    teamOf: ({ claim }: Settlement) => claim.teamId,
  };
  const openJointLane = (): Lane =>
    createGroupCommit({
      ...sharing,
      flush: meterFlush("settle", deps, (settlements) => flush(joint, settlements)),
      maxItems: MAX_JOINT_ITEMS,
      weight: { of: jointWeightOf, most: MAX_WEIGHT },
    });
  const lanes: Readonly<Record<"plain" | "callbacks" | "counted", Lane>> = {
    plain: createGroupCommit({
      ...sharing,
      flush: meterFlush("settle", deps, flushPlain),
      maxItems: MAX_ITEMS,
      weight: { of: weightOf, most: MAX_WEIGHT },
    }),
    callbacks: openJointLane(),
    counted: openJointLane(),
  };

  function laneOf(settlement: Settlement): Lane {
    if (!isJoint(settlement)) return lanes.plain;
    return isCounted(settlement) ? lanes.counted : lanes.callbacks;
  }

  return {
    add: (settlement) => laneOf(settlement).add(settlement),
    waitingWith: (settlement) => laneOf(settlement).waiting,
    async drained() {
      await Promise.all(Object.values(lanes).map((lane) => lane.drained()));
    },
    giveUp() {
      patient = false;
    },
  };
}

/** Callbacks carry the body of the answer and of the call. */
function jointWeightOf(settlement: Settlement): number {
  return weightOf(settlement) + (settlement.claim.call.body?.length ?? 0);
}

function weightOf({ verdict }: Settlement): number {
  return "result" in verdict && verdict.result !== null ? verdict.result.body.length : 0;
}

/** The same verdict without text from outside. */
function withoutAnswer({ claim, attempt, verdict, report = null }: Settlement): Settlement {
  return {
    claim,
    report,
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
