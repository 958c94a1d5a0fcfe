import type { Database } from "../store/sql.ts";

/** Separate connections for work that must not wait for other work. */
export interface EngineDatabases {
  readonly lease: Database;
  readonly intake: Database;
  readonly settle: Database;
  readonly claim: Database;
  readonly chores: Database;
  /** For polls and notifications. */
  readonly polls: Database;
}
