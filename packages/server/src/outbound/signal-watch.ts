import { createUnderWay, type UnderWay } from "../domain/under-way.ts";

interface Stoppable {
  readonly number: number;
  stop(): void;
}

export interface SignalWatch {
  add(signal: AbortSignal, member: Stoppable): void;
  delete(signal: AbortSignal, member: Stoppable): void;
}

/**
 * One listener per signal however many calls share it: a listener per call makes Node warn of a leak at the
 * eleventh, and walk through all of them to add the next.
 */
export function createSignalWatch(): SignalWatch {
  const members = new WeakMap<AbortSignal, UnderWay<number, Stoppable>>();
  return {
    add(signal, member) {
      const known = members.get(signal);
      if (known !== undefined) {
        known.set(member.number, member);
        return;
      }
      const created = createUnderWay<number, Stoppable>();
      created.set(member.number, member);
      members.set(signal, created);
      signal.addEventListener("abort", () => stopAll(created.values), { once: true });
    },
    delete(signal, member) {
      members.get(signal)?.delete(member.number);
    },
  };
}

function stopAll(members: Iterable<Stoppable>): void {
  for (const member of members) member.stop();
}
