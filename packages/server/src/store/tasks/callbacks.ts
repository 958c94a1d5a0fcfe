import type { TaskResult, TaskStatus } from "../../domain/task.ts";
import { type Sql, statement } from "../sql.ts";
import { afterChange, ENDING_COLUMNS, endColumns } from "./endings.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";
import { NO_WORKER, one } from "./tallies.ts";

export interface TaskKey {
  readonly teamId: number;
  readonly id: string;
}

export interface ResolvedTask extends TaskKey {
  readonly queueId: number;
  readonly flow: string | null;
  readonly sandbox: boolean;
  /** A completion notification is due. */
  readonly notify: boolean;
}

const RESOLVE_CALLBACK = statement(
  "resolve_callback",
  `with found as (
     select f.team_id, f.id, f.status as was, now() + make_interval(secs => ${aheadSeconds()}) as at
       from tasks f ${withClock("f")}
      where f.callback_hash = decode($1, 'hex') and f.status in ('waiting', 'polling') for update of f
   ), resolved as (
     update tasks t
        set ${endColumns({ status: "'completed'", completed: "true", callback: "spent", at: "found.at" })},
            result = $2::jsonb,
            error = null
       from found where t.team_id = found.team_id and t.id = found.id and t.status in ('waiting', 'polling')
     returning t.team_id, t.queue_id, t.id, t.status, t.flow, found.was, ${ENDING_COLUMNS}
   ), ${afterChange({
     from: "resolved",
     worker: NO_WORKER,
     writer: "other",
     deltas: { polling: `-${one("was = 'polling'")}`, waiting: `-${one("was = 'waiting'")}` },
   })}
   select team_id as "teamId", id, queue_id::float8 as "queueId", flow, sandbox, on_complete_url is not null as notify
     from resolved`,
  { prepared: true },
);

/** Ends the task that waits for this callback, once. Null if no task waits for it now. */
export async function resolveCallback(
  sql: Sql,
  hash: string,
  result: TaskResult,
): Promise<ResolvedTask | null> {
  const rows = await sql.rows<ResolvedTask>(RESOLVE_CALLBACK, [hash, JSON.stringify(result)]);
  return rows[0] ?? null;
}

const CALLBACK_STATUS = statement(
  "callback_status",
  `select status from tasks
    where callback_hash = decode($1, 'hex')
      and (failure_reason is null or failure_reason not in ('poll_timeout', 'callback_timeout'))`,
);

/**
 * The state of the task of this callback; null if the callback is unknown, used or expired. An expired one is kept,
 * because a retry of its task makes it valid again.
 */
export async function callbackStatus(sql: Sql, hash: string): Promise<TaskStatus | null> {
  const rows = await sql.rows<{ status: TaskStatus }>(CALLBACK_STATUS, [hash]);
  return rows[0]?.status ?? null;
}
