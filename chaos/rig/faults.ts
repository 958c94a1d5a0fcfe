import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../checker/history.ts";
import { now } from "./clock.ts";
import { type Line, NO_RULE, type Rule } from "./line.ts";
import type { Node } from "./node.ts";
import type { Postgres } from "./postgres.ts";
import type { Random } from "./random.ts";

/** What a fault may lay its hands on. */
export interface Scene {
  readonly nodes: readonly Node[];
  readonly lines: readonly Line[];
  readonly postgres: Postgres;
  readonly random: Random;
  readonly note: (fault: Fault) => void;
}

/** Beyond the lease of 15 s and a round of the reaper: others have taken over by then. */
const PAST_LEASE_MS = { from: 17_500, to: 20_000 } as const;
const USES = ["lease", "intake", "settle", "claim", "chores", "polls", "api", "listen"] as const;

type Effect = (scene: Scene) => Promise<void>;

/** Runs one fault and writes down when it began and when its cause was gone. */
async function during(
  scene: Scene,
  fault: Pick<Fault, "kind"> & Partial<Pick<Fault, "detail" | "paused">> & { nodes: readonly Node[] },
  work: () => Promise<void>,
): Promise<void> {
  const from = now();
  try {
    await work();
  } finally {
    const nodes = fault.nodes.map(({ index }) => index);
    scene.note({
      kind: fault.kind,
      nodes,
      from,
      to: now(),
      detail: fault.detail ?? "",
      paused: fault.paused ?? [],
    });
  }
}

function alive({ nodes, random }: Scene): Node {
  const running = nodes.filter(({ pid }) => pid !== null);
  return random.pick(running.length > 0 ? running : nodes);
}

function lineOf({ lines }: Scene, { index }: Node): Line {
  const line = lines[index - 1];
  if (line === undefined) throw new Error(`Node ${index} has no line`);
  return line;
}

async function killNodes(kind: string, scene: Scene, victims: readonly Node[]): Promise<void> {
  await during(scene, { kind, nodes: victims }, async () => {
    await Promise.all(victims.map((node) => node.kill()));
    await sleep(scene.random.between(200, 5_000));
    await Promise.all(victims.map((node) => node.start()));
  });
}

async function pauseNode(kind: string, scene: Scene, ms: number): Promise<void> {
  const node = alive(scene);
  const paused = node.pid === null ? [] : [node.pid];
  await during(scene, { kind, nodes: [node], paused, detail: `for ${ms} ms` }, async () => {
    node.pause();
    await sleep(ms);
    node.resume();
  });
}

/** One node's connections follow a rule for a while: all of them, or those of one use. */
async function disturb(
  kind: string,
  scene: Scene,
  rule: Partial<Rule>,
  ms: number,
  use?: string,
): Promise<void> {
  const everywhere = use === undefined && scene.random.chance(0.2);
  const nodes = everywhere ? scene.nodes : [scene.random.pick(scene.nodes)];
  const only = use ?? (scene.random.chance(0.5) ? null : scene.random.pick(USES));
  const detail = `${only ?? "all"} connections, for ${ms} ms`;
  await during(scene, { kind, nodes, detail }, async () => {
    for (const node of nodes)
      lineOf(scene, node).set({ ...NO_RULE, ...rule, uses: only === null ? null : [only] });
    await sleep(ms);
    for (const node of nodes) lineOf(scene, node).set(NO_RULE);
  });
}

export const PROCESS_FAULTS = {
  kill: (scene) => killNodes("kill", scene, [alive(scene)]),
  "kill-several": (scene) =>
    killNodes("kill-several", scene, scene.random.chance(0.4) ? scene.nodes : scene.nodes.slice(1)),
  pause: (scene) => pauseNode("pause", scene, scene.random.between(500, 5_000)),
  "pause-past-lease": (scene) =>
    pauseNode("pause-past-lease", scene, scene.random.between(PAST_LEASE_MS.from, PAST_LEASE_MS.to)),
  /** It is stopped while the answer to a claim or an insert is on its way, and finds it when it wakes. */
  async "pause-with-answer"(scene) {
    const node = alive(scene);
    const line = lineOf(scene, node);
    const paused = node.pid === null ? [] : [node.pid];
    await during(scene, { kind: "pause-with-answer", nodes: [node], paused }, async () => {
      line.set({ ...NO_RULE, uses: ["claim", "intake"], toClient: "hold" });
      // Not longer than a statement may take: it must still be waited for.
      for (let left = 24; left > 0 && line.heldAnswers() === 0; left -= 1) await sleep(50);
      node.pause();
      line.set(NO_RULE);
      await sleep(scene.random.between(PAST_LEASE_MS.from, PAST_LEASE_MS.to));
      node.resume();
    });
  },
  async roll(scene) {
    const node = alive(scene);
    await during(scene, { kind: "roll", nodes: [node] }, async () => {
      await node.stop();
      await node.start();
    });
  },
} satisfies Record<string, Effect>;

export const DATABASE_FAULTS = {
  async "database-kill"(scene) {
    await during(scene, { kind: "database-kill", nodes: [] }, async () => {
      await scene.postgres.kill();
      await sleep(scene.random.between(100, 3_000));
      await scene.postgres.start();
    });
  },
  async "database-freeze"(scene) {
    const ms = scene.random.between(1_000, 8_000);
    await during(scene, { kind: "database-freeze", nodes: [], detail: `for ${ms} ms` }, async () => {
      scene.postgres.freeze();
      await sleep(ms);
      scene.postgres.thaw();
    });
  },
  async "backends-ended"(scene) {
    const share = scene.random.pick([0.3, 1]);
    await during(scene, { kind: "backends-ended", nodes: [], detail: `share ${share}` }, async () => {
      await scene.postgres
        .query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'bellhop-%' and random() < $1",
          [share],
        )
        .catch(() => {});
    });
  },
  async cut(scene) {
    const use = scene.random.chance(0.5) ? null : scene.random.pick(USES);
    const nodes = scene.random.chance(0.3) ? scene.nodes : [scene.random.pick(scene.nodes)];
    await during(scene, { kind: "cut", nodes, detail: use ?? "all connections" }, async () => {
      for (const node of nodes) lineOf(scene, node).cut(use);
    });
  },
  async "cut-off"(scene) {
    const isLong = scene.random.chance(0.3);
    const ms = isLong
      ? scene.random.between(PAST_LEASE_MS.from, PAST_LEASE_MS.to)
      : scene.random.between(1_000, 6_000);
    const node = scene.random.pick(scene.nodes);
    await during(scene, { kind: "cut-off", nodes: [node], detail: `for ${ms} ms` }, async () => {
      const line = lineOf(scene, node);
      line.set({ ...NO_RULE, refuses: true });
      line.cut(null);
      await sleep(ms);
      line.set(NO_RULE);
    });
  },
  stall: (scene) =>
    disturb("stall", scene, { toServer: "hold", toClient: "hold" }, scene.random.between(1_000, 9_000)),
  /** Past the lease: what a node had to settle reaches the database after others have taken over. */
  "stall-past-lease": (scene) =>
    disturb(
      "stall-past-lease",
      scene,
      { toServer: "hold", toClient: "hold" },
      scene.random.between(PAST_LEASE_MS.from, PAST_LEASE_MS.to),
    ),
  late: (scene) => disturb("late", scene, { toClient: "hold" }, scene.random.between(3_000, 9_000)),
  "late-claim": (scene) =>
    disturb("late-claim", scene, { toClient: "hold" }, 11_500, scene.random.pick(["claim", "intake"])),
  delay: (scene) =>
    disturb("delay", scene, { delayMs: scene.random.between(50, 500) }, scene.random.between(3_000, 8_000)),
  hole: (scene) =>
    disturb("hole", scene, { toServer: "lose", toClient: "lose" }, scene.random.between(2_000, 8_000)),
  deaf: (scene) => disturb("deaf", scene, { toClient: "lose" }, scene.random.between(2_000, 8_000)),
} satisfies Record<string, Effect>;

export type ProcessFault = keyof typeof PROCESS_FAULTS;
export type DatabaseFault = keyof typeof DATABASE_FAULTS;
