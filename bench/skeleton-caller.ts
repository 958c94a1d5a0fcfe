import { Agent, type Dispatcher } from "undici";
import type { NewTask } from "./skeleton-store.ts";

// A class, because the runner of TypeScript names every arrow function that is created, at a cost for each call.
class CallHandler implements Dispatcher.DispatchHandler {
  readonly #onEnd: (code: number) => void;
  #code = 0;

  constructor(onEnd: (code: number) => void) {
    this.#onEnd = onEnd;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    this.#code = statusCode;
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    this.#onEnd(this.#code);
  }

  onResponseError(): void {
    this.#onEnd(0);
  }
}

export interface SkeletonCaller {
  call(task: NewTask): void;
  stop(): Promise<void>;
}

/** Makes the calls, at most `concurrency` at a time like a Bellhop queue; what is beyond it waits in memory. */
export function createSkeletonCaller(
  concurrency: number,
  onSettled: (task: NewTask, code: number) => void,
): SkeletonCaller {
  const agent = new Agent({ connections: concurrency, pipelining: 1 });
  const waiting: NewTask[] = [];
  let nextWaiting = 0;
  let active = 0;

  function start(task: NewTask): void {
    active++;
    const url = new URL(task.url);
    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(task.payload),
      },
      new CallHandler((code) => {
        active--;
        onSettled(task, code);
        startNextWaiting();
      }),
    );
  }

  function startNextWaiting(): void {
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

  return {
    call(task) {
      if (active < concurrency) start(task);
      else waiting.push(task);
    },
    async stop() {
      await agent.destroy();
    },
  };
}
