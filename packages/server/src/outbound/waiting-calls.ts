export interface WaitingCalls {
  enter(origin: string, team: number): void;
  leave(origin: string, team: number): void;
  /** Whether a call waits for a connection to this origin. */
  has(origin: string): boolean;
  /** The teams of the calls that wait for this origin, one entry per call. */
  teamsOf(origin: string): readonly number[];
}

const NONE: readonly number[] = [];

/**
 * The calls per origin that have not been sent yet. Undici replaces the connection of every call that is cut short,
 * for the dead call's sake; with this the connector knows better and leaves the target alone. It also knows for whom it
 * looks a name up: connections are shared by all teams.
 */
export function createWaitingCalls(): WaitingCalls {
  const teams = new Map<string, number[]>();
  return {
    enter(origin, team) {
      const waiting = teams.get(origin);
      if (waiting === undefined) teams.set(origin, [team]);
      else waiting.push(team);
    },
    leave(origin, team) {
      const waiting = teams.get(origin);
      if (waiting === undefined) return;
      const last = waiting.pop();
      if (waiting.length === 0) teams.delete(origin);
      else if (last !== undefined && last !== team) waiting[waiting.indexOf(team)] = last;
    },
    has(origin) {
      return teams.has(origin);
    },
    teamsOf(origin) {
      return teams.get(origin) ?? NONE;
    },
  };
}
