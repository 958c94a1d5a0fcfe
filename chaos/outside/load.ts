import { setTimeout as sleep } from "node:timers/promises";
import { flowKey, freeKey } from "../checker/flows.ts";
import { orderedKey } from "../checker/lines.ts";
import type { Told } from "../rig/api.ts";
import { RETRY_MS } from "../rig/asking.ts";
import type { GuardedTasks } from "../rig/guarded-tasks.ts";
import { GUARDED, type NewQueue, type QueueClients } from "../rig/queue-clients.ts";
import type { Random } from "../rig/random.ts";

/** Each has work all the time, and the second more than it can do at once. */
const QUEUES: readonly NewQueue[] = [
  { name: "line", concurrency: 1, ordered: true },
  { name: "ranked", concurrency: 2 },
  { name: "mixed", concurrency: 6 },
  ...Object.values(GUARDED),
];
/** Concurrency, rate and period. */
const FLOWS = [
  [3, null, null],
  [2, 4, 2],
  [3, 10, 4],
] as const;
/** So many attempts may time out because their process was frozen. */
const MOST_RETRIES = 20;

export interface OutsideLoad {
  prepare(): Promise<void>;
  /** Creates tasks until it is told to stop. */
  work(signal: AbortSignal): Promise<void>;
  /** One task for each queue: what still holds a queue back has been met when it has ended. */
  tryQueues(): Promise<void>;
  /** Fills every queue, and a flow, with as many calls at once as it may have. */
  wave(): Promise<void>;
}

export function createOutsideLoad(deps: {
  readonly queues: QueueClients;
  readonly tasks: GuardedTasks;
  readonly random: Random;
  /** Tasks a second. */
  readonly rate: number;
}): OutsideLoad {
  const { queues, tasks, random, rate } = deps;
  const more = { max_retries: MOST_RETRIES };

  /** It succeeds in the end, after failures of all kinds. */
  function drawCall(fromMs: number, toMs: number): string {
    const behaviour = random.weighted({
      ok: 60,
      slow: 20,
      error: 8,
      reset: 4,
      short: 4,
      garbage: 2,
      hang: 2,
    });
    const until = behaviour === "slow" ? 99 : random.between(1, 2);
    return `${behaviour}?ms=${random.between(fromMs, toMs)}&until=${until}`;
  }

  function createOrdered(): Promise<Told> {
    return tasks.create("line", drawCall(5, 100), {}, more);
  }

  function createRanked(): Promise<Told> {
    const priority = random.between(1, 10);
    const flow = random.chance(0.5) ? freeKey(random.between(1, 9)) : null;
    const body = { ...more, priority, ...(flow !== null && { flow }) };
    return tasks.create("ranked", drawCall(400, 1_200), { priority, flow }, body);
  }

  function createMixed(): Promise<Told> {
    const delay = random.chance(0.3) ? random.between(1, 5) : 0;
    const flow = drawFlow();
    const wish = { delayMs: delay * 1_000, flow: flow?.key ?? null };
    const body = { ...more, ...(delay > 0 && { delay }), ...(flow !== null && { flow }) };
    return tasks.create("mixed", drawCall(5, 400), wish, body);
  }

  function drawFlow() {
    if (random.chance(0.3)) return null;
    if (random.chance(0.4)) return { key: orderedKey(random.between(0, 3)), ordered: true };
    const [concurrency, calls, period] = random.pick(FLOWS);
    const limits = { concurrency, ...(calls !== null && { rate: calls, period }) };
    return { key: flowKey(concurrency, calls, period), ...limits };
  }

  const kinds = {
    line: createOrdered,
    ranked: createRanked,
    mixed: createMixed,
    rated: tasks.rated,
    fragile: tasks.fragile,
    deduped: () => tasks.deduped("mixed"),
  };

  async function fill(
    group: string,
    queue: string,
    of: number,
    flow?: object & { key: string },
  ): Promise<void> {
    const call = `gather?group=${group}&of=${of}&ms=200`;
    const body = { timeout: 20, max_retries: 0, ...(flow !== undefined && { flow }) };
    const wish = { wave: { group, of }, flow: flow?.key ?? null };
    for (let left = of; left > 0; left -= 1) await tasks.create(queue, call, wish, body);
  }

  return {
    async prepare() {
      for (const queue of QUEUES) await queues.create(queue, RETRY_MS.calm);
    },
    async work(signal) {
      const background = new Set<Promise<unknown>>();
      while (!signal.aborted) {
        const kind = random.weighted({ line: 2, ranked: 4, mixed: 5, rated: 3, fragile: 3, deduped: 3 });
        const running: Promise<unknown> = kinds[kind]().finally(() => background.delete(running));
        background.add(running);
        await sleep(random.next() * 2 * (1_000 / rate));
      }
      await Promise.all(background);
    },
    async tryQueues() {
      for (const { name } of QUEUES) await tasks.create(name, "ok", {}, more);
    },
    async wave() {
      for (const { name, concurrency } of QUEUES) await fill(name, name, concurrency);
      const [concurrency] = FLOWS[0];
      const key = flowKey(concurrency, null, null);
      await fill(key, "mixed", concurrency, { key });
    },
  };
}
