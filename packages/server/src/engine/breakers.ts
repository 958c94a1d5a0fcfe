import type { Database, Sql } from "../store/sql.ts";
import { type HeldHost, heldHosts, PASSED_TOGETHER, passTasks } from "../store/tasks/breaker-passes.ts";
import { holdFlowTasks, holdTasks } from "../store/tasks/held-hosts.ts";
import type { SlotGrant } from "../store/tasks/queue-slots.ts";
import type { Actors } from "./actors.ts";
import type { Offers } from "./flow-claim-request.ts";
import type { Flow } from "./local-flow.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";

/** While a host may have passes: the longest delay of a pass if no hint tells that the last one has ended. */
const ROUND_MS = 1_000;
/** Otherwise: the longest delay until another node's breaker is found. */
const IDLE_MS = 5_000;
/** So that one round does not take long. */
const MOST_BATCHES = 20;
/** Each portion passes tasks of one host in one queue. */
const COST: RoundCost = { rows: PASSED_TOGETHER, bytes: PASSED_TOGETHER * LEAN, per: "host", turns: "each" };

export interface Breakers {
  /**
   * Takes the due tasks of a queue that may not begin out of its line, however many they are. In an ordered queue the line
   * itself waits.
   */
  holdBack(teamId: number, grant: SlotGrant): Promise<void>;
  /** The same for the tasks of these flows in these queues, and for those without a flow where a claim looks for them. */
  holdFlowsBack(offers: Offers, flows: readonly Flow[]): Promise<void>;
  /** Gives passes where a task may begin. Returns the milliseconds until the next round. */
  passOnce(): Promise<number>;
  /** A breaker has changed, or a pass has ended. */
  wake(): void;
}

/**
 * Gives passes to tasks of hosts that circuit breakers hold back. The database decides; a lost wake-up delays the next probe by a second.
 */
export function createBreakers(deps: {
  readonly database: Database;
  /** For what a claim waits for. */
  readonly claims: Sql;
  readonly actors: Pick<Actors, "add">;
  /** Tasks of this queue may begin; null: they have no flow. */
  readonly due: (teamId: number, queue: string, flow: string | null) => void;
}): Breakers {
  const { database } = deps;

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

  async function holdBack(teamId: number, { queueId, ordered }: SlotGrant): Promise<void> {
    if (ordered) return;
    // One of them may be the probe.
    if ((await holdTasks(deps.claims, teamId, queueId)) > 0) actor.wake();
  }

  const actor = deps.actors.add({ name: "breakers", once: passOnce, cost: COST });
  return {
    holdBack,
    async holdFlowsBack(offers, flows) {
      for (const [{ teamId, queue, grant }, { plain }] of offers) {
        if (!grant?.holdsHosts) continue;
        if (plain > 0) await holdBack(teamId, grant);
        const keys = flows.filter(({ lanes }) => lanes.has(queue)).map(({ key }) => key);
        if ((await holdFlowTasks(deps.claims, teamId, grant.queueId, keys)) > 0) actor.wake();
      }
    },
    passOnce,
    wake: actor.wake,
  };
}
