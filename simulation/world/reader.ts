import type { Reader, ToldEvent } from "../../chaos/checker/history.ts";
import type { Random } from "../../chaos/rig/random.ts";
import type { EventFilter } from "../../packages/server/src/domain/event.ts";
import type { EventSink } from "../../packages/server/src/domain/event-sink.ts";
import { UNBOUNDED } from "../../packages/server/src/domain/limits.ts";
import type { EventStream } from "../../packages/server/src/service/tasks/event-feed.ts";
import type { StreamOwner } from "../../packages/server/src/service/tasks/stream-places.ts";
import { TEAM } from "./new-tasks.ts";
import type { SimulatedNode, ToldLine } from "./node.ts";
import type { Scheduler } from "./scheduler.ts";

const EVERYTHING: EventFilter = { sandbox: false, types: null, queue: null, tag: null };
const OWNER: StreamOwner = { teamId: TEAM, plan: "enterprise", limits: UNBOUNDED };
const AGAIN_MS = 250;

/** One that follows the events of the team, on whatever node, and comes back after every cut with the last id that it read. */
export function createReader(options: {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly nodeAt: (index: number) => SimulatedNode | null;
  readonly nodes: number;
}): Reader & { start(): void } {
  const { scheduler, random } = options;
  const told: ToldEvent[] = [];
  let readyAt: number | null = null;
  let lastId: string | null = null;

  function connect(): void {
    const node = options.nodeAt(random.between(0, options.nodes - 1));
    if (node === null) {
      again();
      return;
    }
    let stream: EventStream | null = null;
    let isOver = false;
    const leave = () => {
      if (isOver) return;
      isOver = true;
      ending.cancel();
      stream?.close();
      again();
    };
    const ending = node.process.onEnd(leave);
    const sink: EventSink = {
      write(text) {
        if (!isOver) read(String(text));
      },
      waitingBytes: 0,
      drained: async () => {},
      cut: leave,
      end: leave,
    };
    // The network may cut it at any time, also before the first event.
    if (random.chance(0.7)) scheduler.after(random.next() * random.pick([50, 1_000, 10_000]), leave);
    node.process.after(random.next(), "read", () => {
      node.events.open(OWNER, EVERYTHING, lastId, sink).then((opened) => {
        stream = opened;
        if (isOver) opened.close();
      }, leave);
    });
  }

  function again(): void {
    scheduler.after(AGAIN_MS * random.next(), connect);
  }

  function read(text: string): void {
    for (const line of text.split("\n").slice(0, -1)) {
      const { id, type, taskId }: ToldLine = JSON.parse(line);
      lastId = id;
      if (type === "ready") readyAt ??= scheduler.nowMs;
      else told.push({ at: scheduler.nowMs, id, type, taskId, nonces: [] });
    }
  }

  return {
    teamId: TEAM,
    told,
    get readyAt() {
      return readyAt;
    },
    start: connect,
  };
}
