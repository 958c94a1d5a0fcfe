import { Agent, type Dispatcher } from "undici";

type OnEnd = (code: number) => void;

// A class rather than closures: one object per call.
class CallHandler implements Dispatcher.DispatchHandler {
  readonly #onEnd: OnEnd;
  #code = 0;

  constructor(onEnd: OnEnd) {
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

export interface Caller {
  /** `onEnd` gets the status, 0 if there was no answer. */
  call(url: string, payload: unknown, onEnd: OnEnd): void;
  stop(): Promise<void>;
}

/** Makes the calls of the skeleton, and of every peer whose jobs are functions: the fastest client that Node has. */
export function createCaller(connections: number): Caller {
  const agent = new Agent({ connections, pipelining: 1 });
  return {
    call(url, payload, onEnd) {
      const { origin, pathname, search } = new URL(url);
      agent.dispatch(
        {
          origin,
          path: pathname + search,
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(payload),
        },
        new CallHandler(onEnd),
      );
    },
    async stop() {
      await agent.destroy();
    },
  };
}
