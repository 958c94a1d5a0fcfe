import type { HostReport } from "./breaker.ts";
import type { Claim } from "./claim.ts";
import type { Attempt, NewTask } from "./task.ts";
import type { Verdict } from "./verdict.ts";

/** A finished attempt on its way into the record. */
export interface Settlement {
  readonly claim: Claim;
  readonly attempt: Attempt;
  readonly verdict: Verdict;
  /** The tasks that are created with it, if it counts, by whether the task has failed by it; null for none. */
  readonly followers?: ((hasFailed: boolean) => readonly NewTask[]) | null;
  /** For the circuit breaker of the queue; null: none counts it. */
  readonly report?: HostReport | null;
}
