import { invalid, mustBe } from "./complaint.ts";

/** What a credential works in: a test key in the sandbox of its team, every other one outside of it. */
export type Environment = "live" | "test";

/**
 * Whose tasks a query may touch: those of one team and, for a test key, of its sandbox alone. Others reach both by the id of
 * a task, and list and count one of the two: live tasks, unless they ask for the sandbox. Vault tokens are kept apart
 * altogether: a test key reaches those of the sandbox, everyone else the live ones.
 */
export interface Reach {
  readonly teamId: number;
  readonly environment: Environment;
}

/** The reach of a task: a sandbox task's is the sandbox of its team. */
export function reachOf(teamId: number, sandbox: boolean): Reach {
  return { teamId, environment: sandbox ? "test" : "live" };
}

/** Whether a list is to hold the sandbox: as was asked for, or else as the credential says. */
export function chooseSandbox({ environment }: Pick<Reach, "environment">, asked: boolean | null): boolean {
  if (environment === "test" && asked === false)
    throw invalid([mustBe("sandbox", "true with a test key: it sees no other tasks")]);
  return asked ?? environment === "test";
}
