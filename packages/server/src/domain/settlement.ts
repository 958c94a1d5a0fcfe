import type { Claim } from "./claim.ts";
import type { Attempt } from "./task.ts";
import type { Verdict } from "./verdict.ts";

/** A finished attempt on its way into the record. */
export interface Settlement {
  readonly claim: Claim;
  readonly attempt: Attempt;
  readonly verdict: Verdict;
}
