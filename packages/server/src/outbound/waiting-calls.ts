export interface WaitingCalls {
  enter(origin: string): void;
  leave(origin: string): void;
  /** Whether anyone would use a new connection to this origin. */
  has(origin: string): boolean;
}

/**
 * How many calls per origin have not been sent yet. Undici replaces the connection of every call that is cut short,
 * for the dead call's sake; with this the connector knows better and leaves the target alone.
 */
export function createWaitingCalls(): WaitingCalls {
  const counts = new Map<string, number>();
  return {
    enter(origin) {
      counts.set(origin, (counts.get(origin) ?? 0) + 1);
    },
    leave(origin) {
      const left = (counts.get(origin) ?? 0) - 1;
      if (left > 0) counts.set(origin, left);
      else counts.delete(origin);
    },
    has(origin) {
      return counts.has(origin);
    },
  };
}
