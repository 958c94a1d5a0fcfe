import type { Random } from "../../chaos/rig/random.ts";
import type { Sql } from "../../packages/server/src/store/sql.ts";
import type { Server } from "../server.ts";
import type { Requests } from "./requests.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Targets } from "./target.ts";

/** A feature in one run. It draws apart, so that the rest of the run is that of the seed without it. */
export interface Feature {
  /** Before the first node starts. */
  prepare(sql: Sql): Promise<void>;
  /** Plans what its clients do while there are faults. */
  storm(lastsMs: number): void;
  /** The last fault is over, and every queue was resumed: what is still to be asked for. `recoveredMs`: from when nodes owe no time to a fault. */
  calm(recoveredMs: number): void;
  /** Whether it has asked for everything. */
  readonly isDone: boolean;
  /** A queue of one slot whose tasks must be called in the order of their priorities. */
  readonly rankedQueueId?: number | null;
}

export interface FeatureParts {
  readonly server: Server;
  readonly scheduler: Scheduler;
  readonly requests: Requests;
  readonly targets: Pick<Targets, "setDown">;
  readonly random: Random;
}
