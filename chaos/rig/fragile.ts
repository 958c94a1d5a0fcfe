import { setTimeout as sleep } from "node:timers/promises";
import type { BreakerView, Spell } from "../checker/outside/wishes.ts";
import type { Api } from "./api.ts";
import type { Asking } from "./asking.ts";
import { now } from "./clock.ts";
import type { Random } from "./random.ts";
import type { Target } from "./target.ts";
import { isRecord } from "./task-requests.ts";

/** The queue whose tasks all call the fragile target. */
export const FRAGILE = "fragile";
const HEALTHY_MS = { from: 3_000, to: 7_000 } as const;
const SICK_MS = { from: 5_000, to: 12_000 } as const;
const LOOK_MS = 300;

export interface FragileWatch {
  readonly spells: readonly Spell[];
  readonly breakers: readonly BreakerView[];
  /** Lets the target be sick for a while, again and again, and heals it when it is told to stop. */
  work(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** Makes the fragile target sick, and asks the API all the time what it says of breakers. */
export function watchFragile(deps: {
  readonly api: Api;
  readonly asking: Asking;
  readonly random: Random;
  readonly target: Target;
}): FragileWatch {
  const { api, asking, random, target } = deps;
  const spells: Spell[] = [];
  const breakers: BreakerView[] = [];
  let stopped = false;

  async function look(): Promise<void> {
    const at = now();
    const path = "/v1/breakers";
    const { status, body } = await api.ask({ action: "read", node: asking.anyNode(), method: "GET", path });
    if (status !== 200 || !isRecord(body) || !Array.isArray(body.breakers)) return;
    const held = body.breakers.map((breaker: Record<string, unknown>) => ({
      queue: String(breaker.queue),
      state: String(breaker.state),
      openedAt: Date.parse(String(breaker.opened_at)),
      until: Date.parse(String(breaker.until)),
    }));
    breakers.push({ at, endedAt: now(), held });
  }

  const watching = (async () => {
    while (!stopped) {
      await look();
      await sleep(LOOK_MS);
    }
  })();

  return {
    spells,
    breakers,
    async work(signal) {
      const wait = ({ from, to }: typeof SICK_MS | typeof HEALTHY_MS) =>
        sleep(random.between(from, to), undefined, { signal }).catch(() => {});
      while (!signal.aborted) {
        await wait(HEALTHY_MS);
        if (signal.aborted) return;
        const from = now();
        target.setSick(true);
        await wait(SICK_MS);
        target.setSick(false);
        spells.push({ queue: FRAGILE, from, to: now() });
      }
    },
    async stop() {
      stopped = true;
      await watching;
    },
  };
}
