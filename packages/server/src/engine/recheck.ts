import type { Time, Timer } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { type DueQueue, dueAmong } from "../store/tasks/due-queues.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Log } from "./log.ts";

/** A claim skips locked rows; they are checked again after this time. */
const LOOK_AGAIN_MS = 500;

export interface Recheck {
  /** Checks this queue for due tasks. */
  now(queue: DueQueue): void;
  /** The same after a delay: a claim found fewer tasks than requested, and may have skipped locked rows. */
  later(queue: DueQueue): void;
  stop(): void;
}

/** Checks queues for due tasks that a claim, or a lost hint, may have missed. */
export function createRecheck(deps: {
  readonly sql: Sql;
  readonly dispatcher: Pick<Dispatcher, "notice">;
  readonly time: Time;
  readonly log: Log;
}): Recheck {
  const queues = new Map<string, DueQueue>();
  let timer: Timer | null = null;
  let stopped = false;

  /** All requested queues share one statement and one timer. */
  async function look(): Promise<void> {
    timer?.cancel();
    timer = null;
    const asked = [...queues.values()];
    queues.clear();
    try {
      for (const { teamId, queue } of await dueAmong(deps.sql, asked)) deps.dispatcher.notice(teamId, queue);
    } catch (err) {
      deps.log.debug({ err }, "second_look.failed");
      for (const queue of asked) later(queue);
    }
  }

  function add({ teamId, queue }: DueQueue): void {
    queues.set(`${teamId}/${queue}`, { teamId, queue });
  }

  function later(queue: DueQueue): void {
    if (stopped) return;
    add(queue);
    timer ??= deps.time.setTimer(look, LOOK_AGAIN_MS);
  }

  return {
    later,
    now(queue) {
      if (stopped) return;
      add(queue);
      void look();
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
