import type { Terms } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem.ts";

const MOST_ON_A_NODE = 2_000;
/** The last tenth of a node's streams is reserved for teams without one there, one each. */
const MOST_OF_THOSE_WITH_STREAMS = MOST_ON_A_NODE * 0.9;
const RETRY_AFTER_SECONDS = 5;
/** Maximum unread bytes per reader, and in total. */
const MOST_WAITING_BYTES = 1_048_576;
const ALL_WAITING_BYTES = 134_217_728;

export type StreamOwner = Terms & { readonly teamId: number };

/** The limits of open streams on this node: per team by its plan, and in total. */
export interface StreamPlaces {
  /** Refuses if there are too many. Returns the release function. */
  take(owner: StreamOwner): () => void;
  readonly taken: number;
  /** Maximum unread bytes per reader at the current number of streams. */
  readonly mostWaitingBytes: number;
}

export function createStreamPlaces(): StreamPlaces {
  const byTeam = new Map<number, number>();
  let taken = 0;
  return {
    take({ teamId, plan, limits: { eventStreams: most } }) {
      const retry = { retryAfterSeconds: RETRY_AFTER_SECONDS };
      const ofTeam = byTeam.get(teamId) ?? 0;
      if (most !== null && ofTeam >= most)
        throw new Problem("streams_full", { plan, most: String(most) }, retry);
      if (taken >= (ofTeam === 0 ? MOST_ON_A_NODE : MOST_OF_THOSE_WITH_STREAMS))
        throw new Problem("too_many_streams", {}, retry);
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
    get mostWaitingBytes() {
      return Math.min(MOST_WAITING_BYTES, ALL_WAITING_BYTES / taken);
    },
  };
}
