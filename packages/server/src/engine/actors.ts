import type { Time } from "../domain/time.ts";
import type { Log } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";

/** One of those that make rounds for as long as the engine runs. */
export interface Actor {
  readonly name: string;
  /** Makes a round. Resolves with how long to nap until the next, in milliseconds. */
  readonly once: () => Promise<number>;
  /** Makes the next round now. Before the start there is no need to: the first round comes with it. */
  readonly wake: () => void;
}

export interface Actors {
  readonly all: readonly Actor[];
  /** Before the start. */
  add(actor: Pick<Actor, "name" | "once">): Actor;
  /** Wakes those of these names, as far as there are such: some are added from outside of the engine. */
  wake(...names: readonly string[]): void;
  start(): void;
  /** Resolves once every round under way has ended. */
  stop(): Promise<void>;
}

export function createActors(deps: { readonly time: Time; readonly log: Log }): Actors {
  const all: Actor[] = [];
  const loops = new Map<Actor, Loop>();
  return {
    all,
    add({ name, once }) {
      const actor: Actor = { name, once, wake: () => loops.get(actor)?.wake() };
      all.push(actor);
      return actor;
    },
    wake(...names) {
      for (const actor of all) if (names.includes(actor.name)) actor.wake();
    },
    start() {
      for (const actor of all) loops.set(actor, startLoop({ ...deps, name: actor.name, once: actor.once }));
    },
    async stop() {
      await Promise.all([...loops.values()].map((loop) => loop.stop()));
    },
  };
}
