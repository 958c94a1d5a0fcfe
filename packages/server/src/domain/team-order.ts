/** Beyond as many teams as one check can find due, their order no longer matters. */
const MOST_REMEMBERED = 10_000;

/** The order in which teams take turns: the least recently served first, and those never served before all others. */
export interface TeamOrder {
  /** Of equals, in the given order. */
  inTurn(teamIds: readonly number[]): number[];
  /** These teams were served together: they come last. */
  served(teamIds: Iterable<number>): void;
}

export function createTeamOrder(): TeamOrder {
  /** The turn in which each team was last served. */
  const servedAt = new Map<number, number>();
  let turn = 0;
  return {
    inTurn: (teamIds) =>
      [...teamIds].sort((one, other) => (servedAt.get(one) ?? 0) - (servedAt.get(other) ?? 0)),
    served(teamIds) {
      turn += 1;
      if (servedAt.size > MOST_REMEMBERED) servedAt.clear();
      for (const teamId of teamIds) servedAt.set(teamId, turn);
    },
  };
}
