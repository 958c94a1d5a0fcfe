import { setTimeout as sleep } from "node:timers/promises";
import type { Told } from "./api.ts";
import { now } from "./clock.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";

/** How long a client repeats what must be done, during faults and after them. */
export const RETRY_MS = { storm: 5_000, calm: 20_000 } as const;

export interface Asking {
  anyNode(): Node;
  /** Again, at another node, until one says yes or a reason why not. */
  retryRequest(ask: (node: Node) => Promise<Told>, forMs?: number): Promise<Told>;
}

export function createAsking(nodes: readonly Node[], random: Random): Asking {
  const anyNode = () => random.pick(nodes);
  return {
    anyNode,
    async retryRequest(ask, forMs = RETRY_MS.storm) {
      const untilMs = now() + forMs;
      let told = await ask(anyNode());
      while (now() < untilMs && (told.status === null || told.status >= 500)) {
        await sleep(random.between(200, 900));
        told = await ask(anyNode());
      }
      return told;
    },
  };
}
