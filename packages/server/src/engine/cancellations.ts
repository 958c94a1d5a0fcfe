import type { Call } from "../domain/call.ts";
import { publicTaskId } from "../domain/task-id.ts";
import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import type { ClaimHint, HeldClaim } from "../store/tasks/hints.ts";
import { type Cancelled, type PolledJob, takeCancelledJob } from "../store/tasks/task-cancellations.ts";
import type { Attempts } from "./attempts.ts";
import type { Deliveries } from "./deliveries.ts";
import { createDroppedClaims } from "./dropped-claims.ts";
import type { Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import type { Outgoing } from "./outgoing.ts";

const PROVIDER_TIMEOUT_MS = 30_000;

export interface Cancellations {
  /**
   * Called after a cancel is committed. Resolves once no call of the task is in flight on its worker and none will
   * start: the worker confirms that, or does not answer for a second. The third party is notified without waiting for
   * it.
   */
  follow(cancelled: Cancelled): Promise<void>;
  /** A hint about a void claim: the worker that holds it drops it and confirms. The confirmation arrives here too. */
  hear(hint: ClaimHint): void;
  /** An `api` node has cancelled this task: notifies its third party, unless another worker did. */
  takeJob(teamId: number, taskId: string): void;
  abandon(): void;
  finished(): Promise<void>;
}

/**
 * The race: a claim and the cancel of its task are committed, and the answer to the claim is still on its way to its
 * worker. So the worker is told which claim is void, and remembers it for as long as such an answer may take; the
 * cancel is answered when the worker confirms. A worker that does not confirm in time is disconnected or frozen: it
 * starts no call from an answer that old, and its reconciler finds the calls that lost their claim.
 */
export function createCancellations(deps: {
  readonly sql: Sql;
  readonly attempts: Pick<Attempts, "drop">;
  readonly poller: Pick<Deliveries, "drop">;
  readonly outgoing: Outgoing;
  readonly lease: Lease;
  readonly time: Time;
  readonly log: Log;
  readonly send: (hint: ClaimHint) => void;
}): Cancellations {
  const { lease, log } = deps;
  const dropped = createDroppedClaims(deps);
  const notifying = new Set<Promise<void>>();
  let tearDown = new AbortController();

  function drop(claim: HeldClaim): void {
    deps.attempts.drop(claim);
    deps.poller.drop(claim);
  }

  async function tellProvider({ teamId, id, shape }: Cancelled, job: PolledJob): Promise<void> {
    const { cancel } = job.plan;
    if (cancel === undefined) return;
    const { cancelMethod: method = "POST" } = job.config;
    const call: Call = { method, url: cancel.url, headers: cancel.headers, body: null };
    const sent = await deps.outgoing.send({
      teamId,
      taskId: id,
      messageId: id,
      call,
      headers: {},
      timeoutMs: Math.min(job.timeoutSeconds * 1000, PROVIDER_TIMEOUT_MS),
      sign: false,
      callbackSealed: null,
      wipe: { headers: job.firstHeaders, callbackSealed: job.callbackSealed },
      signal: tearDown.signal,
      mayLeave: () => true,
    });
    const outcome = sent.kind === "refused" ? sent.reason : describe(sent);
    log.info({ task: publicTaskId({ id, shape }), outcome }, "provider.cancel_sent");
  }

  function watch(work: Promise<void>): void {
    const told = work
      .catch((err) => log.warn({ err }, "provider.cancel_failed"))
      .finally(() => notifying.delete(told));
    notifying.add(told);
  }

  async function takeJob(teamId: number, taskId: string): Promise<void> {
    const taken = await takeCancelledJob(deps.sql, teamId, taskId);
    if (taken?.job != null) await tellProvider(taken, taken.job);
  }

  return {
    async follow(cancelled) {
      const { held, job } = cancelled;
      if (job !== null) watch(tellProvider(cancelled, job));
      if (held === null) return;
      if (held.workerId === lease.workerId) drop(held);
      else await dropped.ask(held);
    },
    takeJob: (teamId, taskId) => watch(takeJob(teamId, taskId)),
    hear({ kind, claim }) {
      if (kind === "dropped") return dropped.hear(claim);
      if (claim.workerId !== lease.workerId) return;
      drop(claim);
      deps.send({ kind: "dropped", claim });
    },
    abandon() {
      tearDown.abort();
      tearDown = new AbortController();
    },
    async finished() {
      await Promise.all(notifying);
    },
  };
}

function describe(outcome: {
  kind: string;
  statusCode: number | null;
  code?: string;
}): number | string | null {
  return outcome.kind === "response" ? outcome.statusCode : (outcome.code ?? null);
}
