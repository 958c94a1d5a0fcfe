import { STOP_GRACE_MS } from "../../chaos/checker/check.ts";
import type { Fault, Life } from "../../chaos/checker/history.ts";
import type { Random } from "../../chaos/rig/random.ts";
import type { Database } from "../../packages/server/src/store/sql.ts";
import type { Done, Model } from "../model/session.ts";
import type { Server } from "../server.ts";
import { openConnection } from "./connections.ts";
import { scheduledTask } from "./new-tasks.ts";
import { createNodeDeduplication, createNodeEngine, createNodeEvents, type SimulatedNode } from "./node.ts";
import { createProcess } from "./process.ts";
import { PURPOSES, type Purpose } from "./purposes.ts";
import type { Scheduler } from "./scheduler.ts";
import { badFate, type Fate, goodFate, type NodeFault, type StatementFault, type Weather } from "./storm.ts";
import type { Targets } from "./target.ts";

/** The nodes of a run and everything that is done to them. */
export interface Cluster {
  readonly faults: readonly Fault[];
  readonly lives: readonly Life[];
  /** How often each fault was met. */
  readonly met: ReadonlyMap<string, number>;
  /** What an engine took for a bug. */
  readonly bugs: readonly { readonly at: number; readonly text: string }[];
  /** The process that serves there now; null: none does. */
  nodeAt(index: number): SimulatedNode | null;
  startAll(): void;
  /** One fault that the weather allows. */
  strike(): void;
  /** No more faults. Frozen processes still resume at their time. */
  heal(): void;
  /** When the last of them wakes. */
  readonly quietAtMs: number;
  hint(payload: string): void;
}

const HOUR_MS = 3_600_000;
const LEASE_MS = 15_000;
const GIVES_TASKS: readonly string[] = [
  "claim_due_tasks",
  "claim_from_queues",
  "claim_unheld_tasks",
  "claim_unheld_flow_tasks",
  "claim_unheld_ordered_task",
  "claim_ordered_task",
  "claim_flow_head",
  "claim_flow_line_head",
  "insert_tasks",
  "insert_tasks_plain",
  "insert_tasks_keyed",
  "insert_flow_tasks_plain",
];

export function createCluster(options: {
  readonly server: Server;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly model: Model;
  readonly targets: Targets;
  readonly weather: Weather;
  readonly nodes: number;
  readonly statementMs: number;
  readonly onStatement: (done: Done) => void;
}): Cluster {
  const { server, scheduler, random, model, targets, weather } = options;
  const slots: (SimulatedNode | null)[] = Array.from({ length: options.nodes }, () => null);
  const deaf = new Set<number>();
  const stalls: { readonly node: number; readonly purpose: Purpose | null; readonly toMs: number }[] = [];
  const faults: Fault[] = [];
  const lives: Life[] = [];
  const bugs: { at: number; text: string }[] = [];
  const met = new Map<string, number>();
  let isCalm = false;
  let pids = 0;
  let firings = 0;
  let quietAtMs = 0;

  function note(
    kind: string,
    node: number,
    lastsMs: number,
    detail = "",
    paused: readonly number[] = [],
  ): void {
    const from = scheduler.nowMs;
    faults.push({ kind, nodes: [node], from, to: from + lastsMs, detail, paused });
  }

  function count(fault: StatementFault | NodeFault): void {
    met.set(fault, (met.get(fault) ?? 0) + 1);
  }

  function drawFate(node: SimulatedNode, purpose: Purpose, statement: string): Fate {
    const good = goodFate(random, isCalm ? 1 : weather.latencyMs, weather.roundTripMs);
    if (isCalm) return good;
    const { node: index } = node.process;
    const stall = stalls.find(
      (each) => each.node === index && each.toMs > scheduler.nowMs && (each.purpose ?? purpose) === purpose,
    );
    if (stall !== undefined) return { ...good, arrivesMs: stall.toMs - scheduler.nowMs + random.next() };
    if (weather.purpose !== null && weather.purpose !== purpose) return good;
    const fault = drawFault(statement);
    if (fault === null) return good;
    count(fault);
    const detail = `${statement} (${purpose})`;
    // The process meets its fault while the statement is under way, before or after it was carried out.
    const delayMs = random.next() * ((good.arrivesMs ?? 0) + (good.answersMs ?? 0));
    if (fault === "kill") scheduler.after(delayMs, () => kill(node, detail));
    else if (fault === "pause") scheduler.after(delayMs, () => pause(node, pauseLength(), detail));
    else if (fault === "pause-with-answer") scheduler.after(delayMs, () => pause(node, pastLease(), detail));
    const fate = badFate(random, fault, good);
    note(fault, index, (fate.arrivesMs ?? 0) + (fate.answersMs ?? 0), detail);
    return fate;
  }

  function drawFault(statement: string): StatementFault | null {
    for (const [fault, rate] of Object.entries(weather.rates) as [StatementFault, number][])
      if (random.chance(rate) && (fault !== "pause-with-answer" || GIVES_TASKS.includes(statement)))
        return fault;
    return null;
  }

  function pastLease(): number {
    return LEASE_MS + 500 + random.next() * 5_000;
  }

  /** About a deadline, about what a claim may be old, or past a lease. */
  function pauseLength(): number {
    return random.pick([500, 2_000, 4_500, 7_000, pastLease()]) * (0.8 + 0.2 * random.next());
  }

  function start(index: number): void {
    if (slots[index] !== null) return;
    pids += 1;
    const clockErrorMs = random.pick([0, 0, HOUR_MS, -HOUR_MS]);
    const process = createProcess({ scheduler, random, node: index, pid: pids, clockErrorMs });
    const databases = Object.fromEntries(PURPOSES.map((purpose) => [purpose, connect(purpose)])) as Record<
      Purpose,
      Database
    >;
    function connect(purpose: Purpose): Database {
      return openConnection({
        scheduler,
        model,
        process,
        drawFate: (statement) => drawFate(node, purpose, statement),
        away: () => new server.Problem("database_away"),
        statementMs: options.statementMs,
        onStatement: options.onStatement,
      });
    }
    const changes = server.createTaskChanges();
    const engine = createNodeEngine({
      server,
      process,
      databases,
      changes,
      caller: targets.callerOf(process),
      random: random.fork().next,
      nextScheduled() {
        firings += 1;
        return scheduledTask(firings);
      },
      onBug: (text) => bugs.push({ at: scheduler.nowMs, text }),
    });
    const life: SimulatedNode["life"] = {
      node: index,
      pid: pids,
      startedAt: scheduler.nowMs,
      readyAt: null,
      askedAt: null,
      endedAt: null,
      killed: false,
      exitCode: null,
    };
    const events = createNodeEvents(server, process, databases.api);
    const deduplication = createNodeDeduplication(server, process, databases.api, changes);
    const node: SimulatedNode = { process, engine, changes, events, deduplication, databases, life };
    lives.push(life);
    slots[index] = node;
    engine.start().then(
      () => {
        life.readyAt = scheduler.nowMs;
      },
      // Without a database a start fails, and is tried again.
      () => exit(node, 1),
    );
  }

  function exit(node: SimulatedNode, exitCode: number | null): void {
    if (!node.process.isAlive) return;
    node.process.end();
    node.life.endedAt = scheduler.nowMs;
    node.life.exitCode = exitCode;
    const { node: index } = node.process;
    slots[index] = null;
    scheduler.after(100 + random.next() * 2_000, () => start(index));
  }

  function kill(node: SimulatedNode | null, detail = ""): void {
    if (isCalm || node === null || !node.process.isAlive) return;
    note("kill", node.process.node, 0, detail);
    node.life.killed = true;
    exit(node, null);
  }

  function pause(node: SimulatedNode | null, ms: number, detail = ""): void {
    if (isCalm || node === null || !node.process.isAlive || node.process.isPaused) return;
    note("pause", node.process.node, ms, detail, [node.process.pid]);
    node.process.pause();
    quietAtMs = Math.max(quietAtMs, scheduler.nowMs + ms);
    scheduler.after(ms, () => node.process.wake());
  }

  /** SIGTERM. */
  function roll(node: SimulatedNode | null): void {
    if (node === null || node.life.readyAt === null || node.life.askedAt !== null) return;
    note("roll", node.process.node, STOP_GRACE_MS);
    node.process.after(0, "read", () => {
      node.life.askedAt = scheduler.nowMs;
      node.engine.stop(STOP_GRACE_MS).then(
        () => exit(node, 0),
        () => exit(node, 1),
      );
    });
  }

  function closeEars(index: number): void {
    const ms = 1_000 + random.next() * 4_000;
    note("listener", index, ms);
    deaf.add(index);
    scheduler.after(ms, () => {
      deaf.delete(index);
      const node = slots[index];
      node?.process.after(1, "read", () => node.engine.lookEverywhere());
    });
  }

  function stall(node: number, ms: number): void {
    const purpose = random.chance(0.5) ? random.pick(PURPOSES) : null;
    note("stall", node, ms, purpose ?? "all connections");
    stalls.push({ node, purpose, toMs: scheduler.nowMs + ms });
  }

  const strikes: Readonly<Record<NodeFault, (index: number) => void>> = {
    kill: (index) => kill(slots[index] ?? null),
    "kill-all": () => {
      for (const node of [...slots]) kill(node);
    },
    pause: (index) => pause(slots[index] ?? null, pauseLength()),
    "pause-past-lease": (index) => pause(slots[index] ?? null, pastLease()),
    roll: (index) => roll(slots[index] ?? null),
    listener: closeEars,
    stall: (index) => stall(index, 500 + random.next() * 6_000),
    "stall-past-lease": (index) => stall(index, pastLease()),
  };

  return {
    faults,
    lives,
    met,
    bugs,
    nodeAt: (index) => slots[index] ?? null,
    startAll() {
      for (const index of slots.keys()) start(index);
    },
    strike() {
      if (isCalm || Object.keys(weather.nodeFaults).length === 0) return;
      const fault = random.weighted(weather.nodeFaults);
      count(fault);
      strikes[fault](random.between(0, options.nodes - 1));
    },
    heal() {
      isCalm = true;
    },
    get quietAtMs() {
      return quietAtMs;
    },
    hint(payload) {
      for (const [index, node] of slots.entries())
        if (node !== null && !deaf.has(index))
          node.process.after(0.1 + random.next(), "read", () => node.engine.hear(payload));
    },
  };
}
