interface Stoppable {
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
  const members = new WeakMap<AbortSignal, Set<Stoppable>>();
  return {
    add(signal, member) {
      const joined = members.get(signal);
      if (joined !== undefined) {
        joined.add(member);
        return;
      }
      const created = new Set([member]);
      members.set(signal, created);
      signal.addEventListener("abort", () => stopAll(created), { once: true });
    },
    delete(signal, member) {
      members.get(signal)?.delete(member);
    },
  };
}

function stopAll(members: ReadonlySet<Stoppable>): void {
  for (const member of members) member.stop();
}
