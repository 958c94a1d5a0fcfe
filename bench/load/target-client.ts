import { request } from "undici";

export interface TargetStats {
  received: number;
  /** Calls for a task that had already arrived: allowed (at least once), but worth seeing. */
  repeated: number;
  /** Calls for a task outside the range of this measurement, such as a late retry of the one before. */
  strays: number;
  /** How often it was asked how a job goes. */
  polls: number;
  lastAt: number;
}

export interface TargetClient {
  /** Of every `failEvery` tasks one is answered 500 when it first arrives; 0: none. */
  reset(from: number, count: number, failEvery?: number): Promise<void>;
  /** Waits until all tasks since the reset have arrived, none has for `stallMs`, or `limitMs` have passed. */
  wait(stallMs: number, limitMs: number): Promise<TargetStats>;
  /** Arrival times by sequence number since the reset, in machine milliseconds; 0 where none arrived. */
  arrivals(): Promise<Float64Array>;
}

export function createTargetClient(url: string): TargetClient {
  // Waiting for the last arrival takes as long as the queue is deep, which is no reason to give up on the answer.
  const read = async (path: string) =>
    (await request(url + path, { headersTimeout: 0, bodyTimeout: 0 })).body;
  return {
    async reset(from, count, failEvery = 0) {
      await (await read(`/control/reset?from=${from}&count=${count}&failEvery=${failEvery}`)).dump();
    },
    async wait(stallMs, limitMs) {
      return (await (
        await read(`/control/wait?stallMs=${stallMs}&limitMs=${limitMs}`)
      ).json()) as TargetStats;
    },
    async arrivals() {
      const bytes = Buffer.from(await (await read("/control/arrivals")).text(), "base64");
      // Copied, because a Float64Array needs an alignment that a pooled buffer does not promise.
      return new Float64Array(Uint8Array.from(bytes).buffer);
    },
  };
}
