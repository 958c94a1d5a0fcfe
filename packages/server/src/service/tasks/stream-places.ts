import { Problem } from "../../domain/problem.ts";

const MOST_ON_A_NODE = 2_000;
const MOST_OF_A_TEAM = 1_000;
const RETRY_AFTER_SECONDS = 5;

/** How many streams may be open on this node, in all and of one team. */
export interface StreamPlaces {
  /** Refuses when there are too many. Returns how to give the place back. */
  take(teamId: number): () => void;
  readonly taken: number;
}

export function createStreamPlaces(): StreamPlaces {
  const byTeam = new Map<number, number>();
  let taken = 0;
  return {
    take(teamId) {
      const ofTeam = byTeam.get(teamId) ?? 0;
      if (taken >= MOST_ON_A_NODE || ofTeam >= MOST_OF_A_TEAM)
        throw new Problem("too_many_streams", {}, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      taken += 1;
      byTeam.set(teamId, ofTeam + 1);
      return () => {
        taken -= 1;
        const left = (byTeam.get(teamId) ?? 1) - 1;
        if (left === 0) byTeam.delete(teamId);
        else byTeam.set(teamId, left);
      };
    },
    get taken() {
      return taken;
    },
  };
}
