import type { NewTask } from "./store.ts";

export interface DispatchParts {
  concurrency: number;
  claim(limit: number): Promise<NewTask[]>;
  call(task: NewTask, onEnd: () => void): void;
}

/** Takes a stored task, and sees to it that it is called. */
export type Dispatch = (task: NewTask) => void;

/** At most `concurrency` calls at a time, like a Bellhop queue; what is beyond it waits in memory. */
export function createHandOff({ concurrency, call }: DispatchParts): Dispatch {
  const waiting: NewTask[] = [];
  let nextWaiting = 0;
  let active = 0;

  function start(task: NewTask): void {
    active++;
    call(task, onEnd);
  }

  function onEnd(): void {
    active--;
    const task = waiting[nextWaiting];
    if (task === undefined) return;
    nextWaiting++;
    // Shifting a long array for every task would cost more than the call; it is emptied when it has run dry.
    if (nextWaiting === waiting.length) {
      waiting.length = 0;
      nextWaiting = 0;
    }
    start(task);
  }

  return (task) => {
    if (active < concurrency) start(task);
    else waiting.push(task);
  };
}

/** Every task is claimed from the database, as many at once as there are free slots; one claim in flight. */
export function createClaiming({ concurrency, claim, call }: DispatchParts): Dispatch {
  let active = 0;
  let claiming = false;
  let mayWait = false;

  async function claimAll(): Promise<void> {
    claiming = true;
    while (mayWait && active < concurrency) {
      // Before the look, not after: a task that is stored during it must not be forgotten.
      mayWait = false;
      const limit = concurrency - active;
      const tasks = await claim(limit);
      if (tasks.length === limit) mayWait = true;
      for (const task of tasks) {
        active++;
        call(task, onEnd);
      }
    }
    claiming = false;
  }

  function onEnd(): void {
    active--;
    wake();
  }

  function wake(): void {
    if (!claiming && mayWait) void claimAll();
  }

  return () => {
    mayWait = true;
    wake();
  };
}
