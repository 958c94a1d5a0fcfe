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
