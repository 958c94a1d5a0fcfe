import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** What became of a mutant. */
export interface Outcome {
  /**
   * `caught`: something failed. `survived`: all that was run passed. `uncovered`: no test runs what it changes.
   * `equivalent`: it is judged to change nothing that anybody sees. `invalid`: it is no program, or no SQL.
   */
  readonly kind: "caught" | "survived" | "uncovered" | "equivalent" | "invalid";
  /** The test that caught it, the reason, or how many of the tests that cover it were run. */
  readonly by: string;
  readonly seconds: number;
}

interface Kept extends Outcome {
  readonly change: string;
  readonly checks: string;
}

/** Kept in a file, so that a run can be broken off and gone on with. */
export interface Outcomes {
  /** `change` identifies what the mutant does, `checks` what it was run against: who is caught stays so, whatever else is run. */
  find(name: string, change: string, checks: string): Outcome | null;
  keep(name: string, change: string, checks: string, outcome: Outcome): void;
}

export function openOutcomes(file: string): Outcomes {
  const all = new Map<string, Kept>(
    existsSync(file) ? Object.entries(JSON.parse(readFileSync(file, "utf8"))) : [],
  );
  return {
    find(name, change, checks) {
      const known = all.get(name);
      if (known === undefined || known.change !== change) return null;
      return known.checks === checks || known.kind === "caught" || known.kind === "invalid" ? known : null;
    },
    keep(name, change, checks, outcome) {
      all.set(name, { ...outcome, change, checks });
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(Object.fromEntries(all), null, 1));
    },
  };
}
