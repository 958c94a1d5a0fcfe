import type { Database } from "../store/sql.ts";

/** One connection for each thing that must not wait for another. */
export interface EngineDatabases {
  readonly lease: Database;
  readonly intake: Database;
  readonly settle: Database;
  readonly claim: Database;
  readonly chores: Database;
  /** Of polls and notifications. */
  readonly polls: Database;
}
