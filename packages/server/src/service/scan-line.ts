import { FairQueue } from "../domain/fair-queue.ts";
import { Problem } from "../domain/problem.ts";

/** Concurrent scans per node. */
const MOST_AT_ONCE = 2;
/** Of a team: one that works, and those that wait. A dashboard that several people look at asks for a dozen at once. */
const MOST_OF_A_TEAM = 20;
const RETRY_AFTER_SECONDS = 2;

/** The line of scans: requests that look at many rows of a team. */
export interface ScanLine {
  /** Refuses if the team has too many scans. An admitted scan is never refused later. */
  admit(teamId: number): Scan;
}

/** A scan works only while it has a place. A long one gives its place back between portions, and takes another turn. */
export interface Scan {
  /** Waits for a place, unless it has one. */
  take(): Promise<void>;
  /** Gives the place to the next scan in the line. */
  give(): void;
  /** Leaves the line. */
  end(): void;
}

/** Of a request that needs no turn. */
export const NO_SCAN: Scan = { take: async () => {}, give: () => {}, end: () => {} };

/** One scan per team at a time, few per node, teams in turn: many scans of one team delay only that team. */
export function createScanLine(mostOfATeam = MOST_OF_A_TEAM): ScanLine {
  const waiting = new FairQueue<() => void>();
  const scanning = new Set<number>();
  const admitted = new Map<number, number>();

  function beginNext(): void {
    while (scanning.size < MOST_AT_ONCE) {
      const next = waiting.take((teamId) => scanning.has(teamId));
      if (next === null) return;
      scanning.add(next.teamId);
      next.item();
    }
  }

  return {
    admit(teamId) {
      const count = admitted.get(teamId) ?? 0;
      if (count >= mostOfATeam)
        throw new Problem("too_many_scans", {}, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      admitted.set(teamId, count + 1);
      let turn: Promise<void> | null = null;
      let hasPlace = false;
      let hasEnded = false;

      function give(): void {
        if (!hasPlace) return;
        hasPlace = false;
        turn = null;
        scanning.delete(teamId);
        beginNext();
      }

      return {
        take() {
          turn ??= new Promise<void>((begin) => {
            waiting.add(teamId, () => {
              hasPlace = true;
              begin();
              // Its request was answered while it waited.
              if (hasEnded) give();
            });
            beginNext();
          });
          return turn;
        },
        give,
        end() {
          if (hasEnded) return;
          hasEnded = true;
          give();
          const left = (admitted.get(teamId) ?? 1) - 1;
          if (left > 0) admitted.set(teamId, left);
          else admitted.delete(teamId);
        },
      };
    },
  };
}
