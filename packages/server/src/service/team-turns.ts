import { createScanLine } from "./scan-line.ts";

/** Runs a portion of a request that changes many rows, when it is the turn of its team. */
export type InTeamTurn = <Result>(teamId: number, portion: () => Promise<Result>) => Promise<Result>;

/**
 * One portion of a team at a time, few on a node, teams in turn: however many queues a team deletes at once, the next portion of
 * another team waits for a few of its portions. None is refused.
 */
export function createTeamTurns(): InTeamTurn {
  const line = createScanLine(Number.POSITIVE_INFINITY);
  return async (teamId, portion) => {
    const turn = line.admit(teamId);
    await turn.take();
    try {
      return await portion();
    } finally {
      turn.end();
    }
  };
}
