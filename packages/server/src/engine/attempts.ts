import type { Claim } from "../domain/claim.ts";
import { type Limits, within } from "../domain/limits.ts";
import type { Outcome } from "../domain/outcome.ts";
import { ownHeaders } from "../domain/own-headers.ts";
import type { TaskChanges } from "../domain/task-changes.ts";
import { publicTaskId } from "../domain/task-id.ts";
import type { Time } from "../domain/time.ts";
import { createUnderWay } from "../domain/under-way.ts";
import { askedWaitMs, isToBePolled, type Verdict } from "../domain/verdict.ts";
import type { JsonGate } from "../json/gate.ts";
import { removeSettledBatches } from "../store/claim-batches.ts";
import type { Sql } from "../store/sql.ts";
import type { HeldClaim } from "../store/tasks/hints.ts";
import { type HeldTask, heldTasks, type Returned, releaseTasks } from "../store/tasks/task-returns.ts";
import type { Settled } from "../store/tasks/task-settlements.ts";
import type { AttemptSlot } from "./attempt-slot.ts";
import type { HasRoom } from "./fit-result.ts";
import type { Followers } from "./followers.ts";
import { createFreezeWatch } from "./freeze-watch.ts";
import type { HostAttempts } from "./host-attempts.ts";
import { judgeWithin, lookInto, refusedOutcome, refusedVerdict, settlementOf } from "./judge-attempt.ts";
import type { Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import { bytesOf, type MessageCalls, NO_MESSAGES } from "./message-calls.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Settler } from "./settler.ts";
import type { Unanswered } from "./unanswered.ts";
import { createVoidClaims } from "./void-claims.ts";

export interface Attempts {
  /** Makes the attempt and settles it. */
  start(claim: Claim, slot: AttemptSlot): void;
  /** Releases claims that were granted too late to start a call. */
  giveBack(claims: readonly Claim[]): Promise<void>;
  /** Aborts the call of this claim. If the answer to the claim arrives later, no call starts. */
  drop(claim: HeldClaim): void;
  /** Aborts every call in flight and releases the tasks. */
  abandon(): void;
  /** Starts no further call: later claims are released. */
  close(): void;
  /**
   * Releases the tasks that the database assigns to this worker but that no attempt here runs. Aborts the calls whose
   * claim no longer exists: they were cancelled and the hint did not arrive.
   */
  reconcileOnce(): Promise<Returned[]>;
  /** Resolves when no attempt is in flight. */
  finished(): Promise<void>;
  readonly count: number;
}

/** An attempt in flight. */
interface Attempt {
  readonly claim: Claim;
  /** The task's id in the API. */
  readonly publicId: string;
  readonly slot: AttemptSlot;
  call: { stop(): void } | null;
  hasBegun: boolean;
  /** Its claim is void: the call must not start. */
  isDropped: boolean;
}

/**
 * Runs attempts: check the lease, call, judge, settle. The database and this process can disagree only if an answer of
 * the database was lost. `reconcileOnce` finds those tasks, so that none stays active without an attempt.
 */
export function createAttempts(deps: {
  readonly sql: Sql;
  readonly outgoing: Outgoing;
  readonly settler: Settler;
  readonly followers: Pick<Followers, "returning">;
  readonly json: Pick<JsonGate, "lookUp">;
  readonly lease: Lease;
  readonly unanswered: Unanswered;
  readonly log: Log;
  readonly meter?: EngineMeter;
  readonly time: Time;
  readonly random: () => number;
  /** The limits of the team's current plan: the task may have been created under another. */
  readonly limitsOf: (teamId: number) => Limits;
  readonly hasRoom?: HasRoom;
  /** Default: there are no messages. */
  readonly messages?: MessageCalls;
  readonly hosts?: Pick<HostAttempts, "report">;
  /** The call of a claim with a flow begins now. */
  readonly onBegan?: (claim: Claim) => void;
  /** The target of a call with a flow asked to wait. */
  readonly onAskedToWait?: (claim: Claim, waitMs: number) => void;
  readonly onSettled: (settled: Settled, claim: Claim) => void;
  readonly changes: Pick<TaskChanges, "retrying" | "ended">;
  readonly onReturned: (returned: readonly Returned[]) => void;
}): Attempts {
  const { sql, lease, unanswered, log, changes, meter = NO_METER, messages = NO_MESSAGES } = deps;
  const judging = { ...deps, messages };
  const underWay = createUnderWay<Attempt>();
  const voided = createVoidClaims(deps.time);
  const frozen = createFreezeWatch(deps.time, () => underWay.size > 0);
  /** Tasks without an attempt, each with the point at which it was first seen. */
  let suspects = new Map<string, number>();
  /** Attempts that ended here but could not be stored, with how far the call of each may have got. */
  const untold = new Map<string, "not_sent" | "sent">();
  let tearDown = new AbortController();
  const onFinished: (() => void)[] = [];
  let closed = false;

  /** reconcileOnce finds the tasks that could not be settled or released. */
  function start(claim: Claim, slot: AttemptSlot): void {
    const publicId = publicTaskId(claim);
    const isDropped = voided.has(claim.id, claim.fence);
    const attempt: Attempt = { claim, publicId, slot, call: null, hasBegun: false, isDropped };
    if (underWay.size === 0) frozen.start();
    const place = underWay.add(attempt);
    const end = () => {
      underWay.remove(place);
      slot.ended();
      if (underWay.size === 0) for (const callback of onFinished.splice(0)) callback();
    };
    run(attempt).then(end, (err) => {
      untold.set(keyOf(claim), untold.get(keyOf(claim)) ?? "sent");
      log.error({ task: attempt.publicId, err }, "attempt.not_settled");
      end();
    });
  }

  async function run(attempt: Attempt): Promise<void> {
    const { claim, publicId } = attempt;
    const startedAtMs = deps.time.monotonicMs();
    if (attempt.isDropped) return noteAborted(attempt);
    if (closed || !isOurs(claim)) return release([claim], "not_sent");
    const { message, teamId } = claim;
    const limits = deps.limitsOf(teamId);
    const made =
      message === null ? ownHeaders(claim, publicId) : messages.headersOf(claim, message, publicId);
    const sent = await deps.outgoing.send({
      teamId,
      taskId: claim.id,
      messageId: publicId,
      call: message === null ? claim.call : bytesOf(claim.call, message),
      headers: made instanceof Promise ? await made : made,
      timeoutMs: within(limits, "timeoutSeconds", claim.timeoutSeconds) * 1000,
      sign: claim.sign,
      callbackSealed: claim.callbackSealed,
      wipe: null,
      signal: tearDown.signal,
      began: (call) => {
        attempt.call = call;
        begin(attempt);
      },
      mayLeave: () => !attempt.isDropped && isOurs(claim) && !frozen.since(startedAtMs) && begin(attempt),
    });
    if (sent.kind === "failure" && sent.code === "aborted") {
      if (attempt.isDropped) return noteAborted(attempt);
      return release([claim], sent.phase === "not_sent" ? "not_sent" : "sent");
    }
    const outcome = sent.kind === "refused" ? refusedOutcome(sent) : sent;
    const seen = isToBePolled(claim, outcome) ? await lookInto(deps.json, limits, claim, outcome) : outcome;
    const verdict =
      sent.kind === "refused" ? refusedVerdict(sent) : judgeWithin(judging, limits, claim, seen);
    const settled = await settle(attempt, outcome, verdict);
    noteSettled(attempt, outcome, verdict, settled);
  }

  /** False if the claim's permit is void. */
  function begin(attempt: Attempt): boolean {
    const { claim } = attempt;
    if (attempt.hasBegun || (claim.flow === null && claim.startByMs === null)) return true;
    attempt.hasBegun = claim.startByMs === null || deps.time.monotonicMs() < claim.startByMs;
    if (attempt.hasBegun) deps.onBegan?.(claim);
    return attempt.hasBegun;
  }

  /** The cancel has closed the attempt's record. */
  function noteAborted({ claim, publicId }: Attempt): void {
    log.info({ task: publicId, queue: claim.queue, attempt: claim.attempt }, "attempt.aborted");
    meter.attemptLost("aborted");
  }

  function drop(attempt: Attempt): void {
    attempt.isDropped = true;
    attempt.call?.stop();
  }

  function settle({ claim, slot }: Attempt, outcome: Outcome, verdict: Verdict): Promise<Settled | null> {
    const waitMs = claim.flow === null ? null : askedWaitMs(outcome, new Date(deps.time.nowMs()));
    if (waitMs !== null) deps.onAskedToWait?.(claim, waitMs);
    const settlement = settlementOf(judging, claim, outcome, verdict);
    slot.called(deps.settler.waitingWith(settlement));
    return deps.settler.add(settlement);
  }

  /** `settled` is null if another worker has settled or released the task. */
  function noteSettled(attempt: Attempt, outcome: Outcome, verdict: Verdict, settled: Settled | null) {
    const { claim, publicId } = attempt;
    log.info(
      {
        task: publicId,
        queue: claim.queue,
        attempt: claim.attempt,
        outcome: outcome.kind === "response" ? outcome.statusCode : outcome.code,
        verdict: settled === null ? "superseded" : verdict.kind,
        durationMs: outcome.durationMs,
        nextRunAt: settled?.runAt ?? undefined,
      },
      "attempt.settled",
    );
    if (settled === null) return meter.attemptLost("superseded");
    meter.attempted(outcome, claim.teamId, claim.queueId);
    deps.onSettled(settled, claim);
    if (settled.status === "completed") changes.ended(claim, "completed", settled.notify);
    // A retry whose queue was deleted meanwhile has failed.
    else if (settled.status === "failed")
      changes.ended(claim, verdict.kind === "failed" ? verdict.reason : "queue_deleted", settled.notify);
    else if (verdict.kind === "retry") changes.retrying(claim);
  }

  const giveBackAll = (tasks: readonly HeldTask[], phase: "not_sent" | "sent") =>
    deps.followers.returning((within) => releaseTasks(within, tasks, phase, lease.workerId));
  async function release(claims: readonly Claim[], phase: "not_sent" | "sent"): Promise<void> {
    try {
      deps.onReturned(await giveBackAll(claims, phase));
    } catch (error) {
      for (const claim of claims) untold.set(keyOf(claim), phase);
      throw error;
    }
  }

  /** An attempt recorded as not sent has reached no target. In doubt, it is recorded as sent. */
  async function releaseLost(lost: readonly HeldTask[]): Promise<Returned[]> {
    const returned: Returned[] = [];
    for (const phase of ["not_sent", "sent"] as const) {
      const tasks = lost.filter((task) => (untold.get(keyOf(task)) ?? "not_sent") === phase);
      if (tasks.length === 0) continue;
      const given = await giveBackAll(tasks, phase);
      deps.onReturned(given);
      returned.push(...given);
    }
    return returned;
  }

  /** As far as this process knows: while the worker's row exists, no node takes its tasks. */
  function isOurs(claim: Claim): boolean {
    return lease.isHeld() && claim.workerId === lease.workerId;
  }

  return {
    start,
    async giveBack(claims) {
      if (claims.length === 0) return;
      log.warn({ tasks: claims.length }, "claims.too_late");
      await release(claims, "not_sent").catch((err) => log.warn({ err }, "claims.not_released"));
    },
    drop(claim) {
      voided.add(claim);
      for (const attempt of underWay.all())
        if (attempt.claim.id === claim.taskId && attempt.claim.fence === claim.fence) drop(attempt);
    },
    abandon() {
      tearDown.abort();
      tearDown = new AbortController();
    },
    close() {
      closed = true;
    },
    async reconcileOnce() {
      const { workerId } = lease;
      const untoldBefore = [...untold.keys()];
      const before = underWay.all();
      await removeSettledBatches(sql, workerId);
      const held = await heldTasks(sql, workerId);
      const keys = new Set(held.map(keyOf));
      for (const attempt of before)
        if (attempt.claim.workerId === workerId && !keys.has(keyOf(attempt.claim))) drop(attempt);
      const run = new Set(underWay.all().map(({ claim }) => keyOf(claim)));
      const unknown = held.filter((task) => !run.has(keyOf(task)));
      // A task seen for the first time may just have been claimed, with the answer still on its way.
      const lost = unknown.filter((task) => {
        const seenAt = suspects.get(keyOf(task));
        return seenAt !== undefined && unanswered.isAnsweredUntil(seenAt);
      });
      const now = unanswered.mark();
      suspects = new Map(unknown.map((task) => [keyOf(task), suspects.get(keyOf(task)) ?? now]));
      for (const key of untoldBefore) if (!suspects.has(key)) untold.delete(key);
      if (lost.length === 0) return [];
      log.warn({ tasks: lost.length }, "tasks.without_attempt");
      return releaseLost(lost);
    },
    finished() {
      return underWay.size === 0 ? Promise.resolve() : new Promise((resolve) => onFinished.push(resolve));
    },
    get count() {
      return underWay.size;
    },
  };
}

function keyOf({ id, fence }: Pick<Claim, "id" | "fence">): string {
  return `${id} ${fence}`;
}
