import type { Call } from "../domain/call.ts";
import type { LookedUp } from "../domain/json/look-up.ts";
import { type Limits, within } from "../domain/limits.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { PollClaim } from "../domain/poll/poll-claim.ts";
import {
  foundBytes,
  judgePoll,
  judgeResultFetch,
  mustBeReadWhole,
  type PollVerdict,
  pollPaths,
} from "../domain/poll/poll-verdict.ts";
import type { TaskResult } from "../domain/task.ts";
import type { TaskChanges } from "../domain/task-changes.ts";
import { publicTaskId } from "../domain/task-id.ts";
import type { JsonGate } from "../json/gate.ts";
import type { WipeText } from "../outbound/secret-call.ts";
import type { Sql } from "../store/sql.ts";
import {
  claimDuePolls,
  heldPolls,
  type PollStep,
  releasePolls,
  teamsWithDuePolls,
} from "../store/tasks/task-polls.ts";
import { createDeliveries, type Deliveries, type DeliveryTools } from "./deliveries.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { Outgoing } from "./outgoing.ts";
import { createPollSettler } from "./poll-settler.ts";
import { type RoundCost, WHOLE } from "./round-cost.ts";

/** Maximum number of polls in flight on this node. One team alone gets half of them. */
export const MOST_POLLS = 1_000;
const BATCH = 100;
export const POLL_COST: RoundCost = { rows: BATCH, bytes: BATCH * WHOLE, turns: "in turn" };
/** A poll that takes longer than this is repeated. */
const LONGEST_POLL_MS = 30_000;

/**
 * Polls jobs at third parties. A poll is claimed and fenced like a call but holds no slot; between two polls a task
 * costs only its row. The first of poll, callback and deadline ends the task; the others find another fence.
 */
export function createPoller(
  deps: DeliveryTools & {
    readonly sql: Sql;
    readonly outgoing: Outgoing;
    readonly limitsOf: (teamId: number) => Limits;
    readonly meter?: EngineMeter;
    readonly json: Pick<JsonGate, "lookUp">;
    readonly resultLimitBytes: number;
    readonly changes: Pick<TaskChanges, "ended">;
  },
): Deliveries {
  const { sql, lease, log, meter = NO_METER } = deps;
  const settler = createPollSettler(deps);

  async function run(claim: PollClaim, signal: AbortSignal): Promise<number | null> {
    const step = await poll(claim, signal);
    const settled = await settler.add({ claim, step });
    const verdict = settled === null ? "superseded" : step.kind;
    log.info({ task: publicTaskId(claim), verdict }, "poll.settled");
    meter.polled(verdict);
    if (step.kind === "again") return step.waitMs;
    if (settled !== null)
      deps.changes.ended(claim, step.kind === "failed" ? step.reason : "completed", settled.notify);
    return null;
  }

  async function poll(claim: PollClaim, signal: AbortSignal): Promise<PollStep> {
    const { plan, config } = claim;
    const target = plan.fetching && plan.result !== null ? plan.result : plan.status;
    const call: Call = { method: "GET", url: target.url, headers: target.headers, body: null };
    const paths = pollPaths(config, plan.fetching);
    const look = (body: string) =>
      deps.json.lookUp(
        claim.teamId,
        body,
        paths,
        foundBytes(deps.resultLimitBytes),
        deps.limitsOf(claim.teamId),
      );
    const sent = await deps.outgoing.send({
      teamId: claim.teamId,
      taskId: claim.id,
      messageId: claim.id,
      call,
      headers: {},
      timeoutMs: Math.min(claim.timeoutSeconds * 1000, LONGEST_POLL_MS),
      sign: false,
      callbackSealed: null,
      wipe: { headers: claim.firstHeaders, callbackSealed: claim.callbackSealed },
      signal,
      readWhole: mustBeReadWhole(config, plan.fetching) ? look : undefined,
      mayLeave: lease.isHeld,
    });
    if (sent.kind === "refused")
      return { kind: "failed", reason: sent.reason, error: sent.error, result: null };
    const { wipeText, ...outcome } = sent;
    // Aborted by this node: the next node repeats the poll, and it does not count against the third party.
    if (outcome.kind === "failure" && outcome.code === "aborted") return { kind: "again", plan, waitMs: 0 };
    const made = {
      url: target.url,
      durationMs: claim.elapsedMs + outcome.durationMs,
      withheld: target.withheld,
      keepBytes: deps.resultLimitBytes,
    };
    const ask = plan.fetching ? judgeResultFetch : judgePoll;
    const verdict = ask(config, await withFound(outcome, paths, look), plan.state, made);
    // The result is fetched at once, because providers delete their outputs within hours.
    if (verdict.kind === "fetchResult" && plan.result !== null) {
      return poll({ ...claim, plan: { ...plan, fetching: true, state: verdict.state } }, signal);
    }
    const step = toStep(claim, verdict, outcome);
    return wipeText === undefined ? step : wipeStep(step, wipeText);
  }

  function toStep({ teamId, plan, config }: PollClaim, verdict: PollVerdict, outcome: Outcome): PollStep {
    if (verdict.kind === "done") return { kind: "completed", result: verdict.result };
    if (verdict.kind === "failed") return verdict;
    const waitMs = within(deps.limitsOf(teamId), "pollIntervalSeconds", config.interval) * 1000;
    const error = verdict.kind === "again" ? verdict.error : null;
    const seen = {
      count: (plan.seen?.count ?? 0) + 1,
      at: new Date(deps.time.nowMs()).toISOString(),
      answer: outcome.kind === "response" ? String(outcome.statusCode) : outcome.code,
      ...(error !== null && { error }),
    };
    return { kind: "again", plan: { ...plan, state: verdict.state, seen }, waitMs };
  }

  return createDeliveries({
    ...deps,
    name: "poll",
    batch: BATCH,
    findDue: () => teamsWithDuePolls(sql),
    claim: (rooms) => claimDuePolls(sql, lease.workerId, rooms),
    work: run,
    held: () => heldPolls(sql, lease.workerId),
    release: (stray) => releasePolls(sql, stray),
  });
}

/** An answer that was not read whole, with values still to be extracted. */
function withFound(
  outcome: Outcome,
  paths: readonly string[],
  look: (body: string) => LookedUp | Promise<LookedUp>,
): Outcome | Promise<Outcome> {
  if (outcome.kind === "failure" || outcome.found !== undefined || paths.length === 0) return outcome;
  const found = look(outcome.body);
  return found instanceof Promise
    ? found.then((later) => ({ ...outcome, found: later }))
    : { ...outcome, found };
}

/** Removes secrets that the answer repeats from everything that will be stored. */
async function wipeStep(step: PollStep, wipeText: WipeText): Promise<PollStep> {
  if (step.kind === "again") return step;
  const result = step.result === null ? null : await wipeResult(step.result, wipeText);
  if (step.kind === "completed") return result === null ? step : { ...step, result };
  // A long text was cut and ends with an ellipsis.
  const cut = step.error.endsWith("…");
  const { text } = await wipeText(cut ? step.error.slice(0, -1) : step.error, cut);
  return { ...step, error: cut ? `${text}…` : text, result };
}

async function wipeResult(result: TaskResult, wipeText: WipeText): Promise<TaskResult> {
  const { text, lost } = await wipeText(result.body, result.truncated === true);
  return lost ? { ...result, body: text, truncated: true } : { ...result, body: text };
}
