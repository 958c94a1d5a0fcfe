import type { Time } from "../domain/time.ts";
import type { Log } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";
import { type RoundCost, requireRoundCost } from "./round-cost.ts";

/** A named loop that runs as long as the engine. */
export interface Actor {
  readonly name: string;
  readonly cost: RoundCost;
  /** Runs one round. Resolves with the milliseconds until the next. */
  readonly once: () => Promise<number>;
  /** Starts the next round now. Before the start it does nothing, because the start begins with a round. */
  readonly wake: () => void;
}

export type NewActor = Omit<Actor, "wake">;

export interface Actors {
  readonly all: readonly Actor[];
  /** Of every actor, and of the workers that have a loop of their own, by name. */
  readonly costs: ReadonlyMap<string, RoundCost>;
  /** Must be called before the start. */
  add(actor: NewActor): Actor;
  /** For a worker with a loop of its own. */
  declare(name: string, cost: RoundCost): void;
  /** Wakes the actors with these names. Unknown names are ignored, because some actors are added from outside the engine. */
  wake(...names: readonly string[]): void;
  start(): void;
  /** Resolves once every running round has ended. */
  stop(): Promise<void>;
}

export function createActors(deps: { readonly time: Time; readonly log: Log }): Actors {
  const all: Actor[] = [];
  const loops = new Map<Actor, Loop>();
  const costs = new Map<string, RoundCost>();

  function declare(name: string, cost: RoundCost): void {
    requireRoundCost(name, cost);
    costs.set(name, cost);
  }

  return {
    all,
    costs,
    declare,
    add({ name, once, cost }) {
      declare(name, cost);
      const actor: Actor = { name, once, cost, wake: () => loops.get(actor)?.wake() };
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
