import { breakerHost, targetState } from "../domain/breaker.ts";
import type { Claim } from "../domain/claim.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { Time, Timer } from "../domain/time.ts";
import type { Database, Sql } from "../store/sql.ts";
import { type HeldHost, heldHosts, passTasks } from "../store/tasks/breaker-passes.ts";
import { type HostAttempts, recordAttempts } from "../store/tasks/breakers.ts";
import { holdFlowTasks, holdTasks } from "../store/tasks/held-hosts.ts";
import type { SlotGrant } from "../store/tasks/queue-slots.ts";
import type { Actors } from "./actors.ts";
import type { Flow } from "./local-flow.ts";
import type { LocalQueue, LocalQueues } from "./local-queues.ts";
import type { Log } from "./log.ts";

/** While a host may have passes: the longest delay of a pass if no hint tells that the last one has ended. */
const ROUND_MS = 1_000;
/** Otherwise: the longest delay until another node's breaker is found. */
const IDLE_MS = 5_000;
/** Attempts that succeed are counted together for this long; a failed one is counted at once, with them. */
const COUNT_MS = 1_000;
/** So that one round does not take long. */
const MOST_BATCHES = 20;

export interface Breakers {
  /** Attempts of the queue are counted from now on, as long as it has a breaker. */
  watch(queueId: number): void;
  /**
   * Takes the due tasks of a queue that may not begin out of its line, however many they are. In an ordered queue the line
   * itself waits.
   */
  holdBack(teamId: number, grant: SlotGrant): Promise<void>;
  /** The same for the tasks of these flows in these queues. */
  holdFlowsBack(queues: Iterable<LocalQueue>, flows: readonly Flow[]): Promise<void>;
  /** An attempt was settled. */
  attempted(claim: Claim, outcome: Outcome): void;
  /** Gives passes where a task may begin. Returns the milliseconds until the next round. */
  passOnce(): Promise<number>;
  /** Resolves once everything that was attempted is counted. */
  drained(): Promise<void>;
}

interface Counted extends HostAttempts {
  failed: number;
  total: number;
  readonly passes: { readonly id: string; readonly fence: number; readonly isUp: boolean }[];
}

/**
 * The circuit breakers of this node: it counts its attempts by host, and gives passes to tasks of hosts that are held. The
 * database decides. A count that is lost here delays an opening, a lost wake-up the next probe by a second.
 */
export function createBreakers(deps: {
  readonly database: Database;
  /** For what a claim waits for. */
  readonly claims: Sql;
  readonly localQueues: Pick<LocalQueues, "find">;
  readonly actors: Pick<Actors, "add">;
  readonly time: Time;
  readonly log: Log;
  /** Tasks of this queue may begin; null: they have no flow. */
  readonly due: (teamId: number, queue: string, flow: string | null) => void;
}): Breakers {
  const { database, time } = deps;
  /** The queues with a breaker: for any other, an attempt costs one look into a set. */
  const watched = new Set<number>();
  let counts = new Map<string, Counted>();
  let timer: Timer | null = null;
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    while (counts.size > 0) {
      const taken = [...counts.values()];
      counts = new Map();
      const { hasNews } = await recordAttempts(database, taken);
      if (hasNews) actor.wake();
    }
  }

  function flush(): void {
    timer?.cancel();
    timer = null;
    writing ??= write()
      .catch((err) => deps.log.warn({ err }, "breaker.not_counted"))
      .finally(() => {
        writing = null;
      });
  }

  function attempted(claim: Claim, outcome: Outcome): void {
    const { teamId, queueId, queue } = claim;
    if (watched.size === 0 || !watched.has(queueId)) return;
    const grant = deps.localQueues.find(teamId, queue)?.grant;
    if (grant?.breaker == null || grant.queueId !== queueId) return;
    const state = targetState(outcome);
    const host = state === null ? null : breakerHost(claim.call.url);
    if (state === null || host === null) return;
    const key = `${queueId} ${host}`;
    const counted = counts.get(key) ?? {
      teamId,
      queueId,
      host,
      settings: grant.breaker,
      failed: 0,
      total: 0,
      passes: [],
    };
    counts.set(key, counted);
    counted.total += 1;
    if (state === "down") counted.failed += 1;
    if (grant.holdsHosts) counted.passes.push({ id: claim.id, fence: claim.fence, isUp: state === "up" });
    if (state === "down" || grant.holdsHosts) flush();
    else timer ??= time.setTimer(flush, COUNT_MS);
  }

  async function pass(held: HeldHost): Promise<void> {
    for (let batch = 0; batch < MOST_BATCHES; batch += 1) {
      const { plain, flows, isPartial } = await passTasks(database, held);
      for (let index = 0; index < plain; index += 1) deps.due(held.teamId, held.queue, null);
      for (const flow of flows) deps.due(held.teamId, held.queue, flow);
      if (!isPartial) return;
    }
  }

  async function passOnce(): Promise<number> {
    const held = await heldHosts(database);
    for (const each of held) if (each.waitMs <= 0) await pass(each);
    if (held.some(({ waitMs }) => waitMs <= 0)) return ROUND_MS;
    return Math.min(IDLE_MS, ...held.map(({ waitMs }) => Math.ceil(waitMs) + 1));
  }

  const actor = deps.actors.add({ name: "breakers", once: passOnce });
  return {
    watch: (queueId) => watched.add(queueId),
    async holdBack(teamId, { queueId, ordered }) {
      if (ordered) return;
      // One of them may be the probe.
      if ((await holdTasks(deps.claims, teamId, queueId)) > 0) actor.wake();
    },
    async holdFlowsBack(queues, flows) {
      for (const { teamId, queue, grant } of queues) {
        if (!grant?.holdsHosts) continue;
        const keys = flows.filter(({ lanes }) => lanes.has(queue)).map(({ key }) => key);
        if ((await holdFlowTasks(deps.claims, teamId, grant.queueId, keys)) > 0) actor.wake();
      }
    },
    attempted,
    passOnce,
    async drained() {
      if (counts.size > 0) flush();
      await writing;
    },
  };
}
