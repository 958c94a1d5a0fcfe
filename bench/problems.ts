import type { LoadResult } from "./load-job.ts";

/** What makes a measurement invalid, in words; empty if nothing does. */
export function findProblems(what: string, result: LoadResult): string[] {
  const problems: string[] = [];
  if (result.lost > 0) problems.push(`${what}: lost ${result.lost} of ${result.accepted} accepted tasks`);
  for (const [status, count] of Object.entries(result.failures)) {
    problems.push(`${what}: ${count} submissions got ${status === "0" ? "no answer" : `status ${status}`}`);
  }
  return problems;
}
