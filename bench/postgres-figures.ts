/** What PostgreSQL itself and its processes tell of a measurement, beside the CPU that it took in all. */
import { Client, type ClientConfig } from "pg";
import { listDescendants, readTitle } from "../tools/process-usage.ts";

export interface PostgresFigures {
  /** Of all updates of the table of tasks, those that touched no index, in percent. */
  hotShare: number;
  walBytes: number;
  autovacuumMicros: number;
}

export interface PostgresWatch {
  /** Calls `work`, and tells what happened during it, per task where it is no share. */
  during<Result>(tasks: number, work: () => Promise<Result>): Promise<[Result, PostgresFigures]>;
  stop(): Promise<void>;
}

interface Reading {
  updates: number;
  hotUpdates: number;
  walBytes: number;
  /** Of autovacuum, and of every process that has ended. */
  autovacuumSeconds: number;
  /** CPU seconds of each process that serves a connection, by its id. */
  backends: ReadonlyMap<number, number>;
}

/** `pids` are processes that have started PostgreSQL, directly or not. */
export async function watchPostgres(
  connection: string | ClientConfig,
  pids: readonly number[],
): Promise<PostgresWatch> {
  const client = new Client(connection);
  client.on("error", () => {});
  await client.connect();

  async function read(): Promise<Reading> {
    // Backends report their counts once a second: of the last second of a run some are missing, of either kind alike.
    const { rows } = await client.query<Omit<Reading, "autovacuumSeconds" | "backends">>(
      `select coalesce(sum(n_tup_upd), 0)::float8 as updates, coalesce(sum(n_tup_hot_upd), 0)::float8 as "hotUpdates",
              pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "walBytes"
         from pg_stat_user_tables where relname in ('tasks', 'skeleton_tasks')`,
    );
    const [row] = rows;
    if (row === undefined) throw new Error("PostgreSQL tells nothing of its tables");
    return { ...row, ...readProcesses(pids) };
  }

  return {
    async during(tasks, work) {
      const before = await read();
      const result = await work();
      const after = await read();
      const grown = (name: Exclude<keyof Reading, "backends">) => after[name] - before[name];
      // A connection that was closed counts among the processes that have ended, with all that it took before, too.
      const closed = [...before.backends].filter(([pid]) => !after.backends.has(pid));
      const closedSeconds = closed.reduce((sum, [, seconds]) => sum + seconds, 0);
      return [
        result,
        {
          hotShare: (grown("hotUpdates") / grown("updates")) * 100,
          walBytes: grown("walBytes") / tasks,
          autovacuumMicros: Math.max(0, ((grown("autovacuumSeconds") - closedSeconds) * 1e6) / tasks),
        },
      ];
    },
    stop: () => client.end(),
  };
}

/** Connections that are opened and closed during a measurement are few: other processes that have ended are workers of autovacuum. */
function readProcesses(pids: readonly number[]): Pick<Reading, "autovacuumSeconds" | "backends"> {
  const backends = new Map<number, number>();
  let autovacuumSeconds = 0;
  for (const { pid, cpuSeconds, endedChildrenCpuSeconds } of pids.flatMap((each) => listDescendants(each))) {
    autovacuumSeconds += endedChildrenCpuSeconds;
    if (readTitle(pid).includes("autovacuum")) autovacuumSeconds += cpuSeconds;
    else backends.set(pid, cpuSeconds);
  }
  return { autovacuumSeconds, backends };
}
