import { invalid, mustBe } from "./complaint.ts";

/** The environment of a credential: a test key works in the sandbox of its team, every other one outside of it. */
export type Environment = "live" | "test";

/**
 * The tasks that a query may touch: those of one team and, for a test key, only its sandbox. Other credentials reach
 * both by task id, and list and count one of the two: live tasks by default. Vault tokens are fully separate: a test
 * key reaches those of the sandbox, other credentials the live ones.
 */
export interface Reach {
  readonly teamId: number;
  readonly environment: Environment;
}

/** The reach of a task: for a sandbox task, the sandbox of its team. */
export function reachOf(teamId: number, sandbox: boolean): Reach {
  return { teamId, environment: sandbox ? "test" : "live" };
}

/** Whether a list shows the sandbox: as requested, or else by the credential. */
export function chooseSandbox({ environment }: Pick<Reach, "environment">, asked: boolean | null): boolean {
  if (environment === "test" && asked === false)
    throw invalid([mustBe("sandbox", "true with a test key: it sees no other tasks")]);
  return asked ?? environment === "test";
}
