import { invalid, mustBe } from "./complaint.ts";

/** What a credential works in: a test key in the sandbox of its team, every other one outside of it. */
export type Environment = "live" | "test";

/**
 * Whose tasks a query may touch: those of one team and, for a test key, of its sandbox alone. Others reach both by the id of
 * a task, and list and count one of the two: live tasks, unless they ask for the sandbox.
 */
export interface Reach {
  readonly teamId: number;
  readonly environment: Environment;
}

/** Whether a list is to hold the sandbox: as was asked for, or else as the credential says. */
export function chooseSandbox({ environment }: Pick<Reach, "environment">, asked: boolean | null): boolean {
  if (environment === "test" && asked === false)
    throw invalid([mustBe("sandbox", "true with a test key: it sees no other tasks")]);
  return asked ?? environment === "test";
}
