import type { Time, Timer } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { type DueQueue, dueAmong } from "../store/tasks/due-queues.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Log } from "./log.ts";

/** A claim passes over rows that are locked for a moment; after this time they are looked for again. */
const LOOK_AGAIN_MS = 500;

export interface Recheck {
  /** Is there due work in this queue? */
  now(queue: DueQueue): void;
  /** The same in a moment: a claim found less than it looked for, and may have met rows that were locked. */
  later(queue: DueQueue): void;
  stop(): void;
}

/** Looks whether there is due work in queues where a claim, or nothing at all, would leave it unnoticed. */
export function createRecheck(deps: {
  readonly sql: Sql;
  readonly dispatcher: Pick<Dispatcher, "notice">;
  readonly time: Time;
  readonly log: Log;
}): Recheck {
  const queues = new Map<string, DueQueue>();
  let timer: Timer | null = null;
  let stopped = false;

  /** All that are to be looked at share one statement, and one timer. */
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
