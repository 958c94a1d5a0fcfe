import { Problem } from "../../domain/problem.ts";

/** Concurrent scans per node. */
const MOST_AT_ONCE = 2;
const MOST_WAITING_OF_A_TEAM = 5;
const RETRY_AFTER_SECONDS = 5;

/** The queue of scans over all of a team's tasks. */
export interface ScanLine {
  /** Refuses if too many scans of the team wait. */
  run<T>(teamId: number, scan: () => Promise<T>): Promise<T>;
}

/** One scan per team at a time, few per node, teams in turn: many scans of one team delay only that team. */
export function createScanLine(): ScanLine {
  /** By team, in turn order. */
  const waiting = new Map<number, (() => void)[]>();
  const scanning = new Set<number>();

  function beginNext(): void {
    for (const [teamId, [begin, ...others]] of waiting) {
      if (scanning.size >= MOST_AT_ONCE) return;
      if (begin === undefined || scanning.has(teamId)) continue;
      waiting.delete(teamId);
      if (others.length > 0) waiting.set(teamId, others);
      scanning.add(teamId);
      begin();
    }
  }

  return {
    async run(teamId, scan) {
      const line = waiting.get(teamId) ?? [];
      if (line.length >= MOST_WAITING_OF_A_TEAM)
        throw new Problem("too_many_scans", {}, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      await new Promise<void>((begin) => {
        waiting.set(teamId, [...line, begin]);
        beginNext();
      });
      try {
        return await scan();
      } finally {
        scanning.delete(teamId);
        beginNext();
      }
    },
  };
}
