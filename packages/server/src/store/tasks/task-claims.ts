import { type Claim, makeClaim } from "../../domain/claim.ts";
import { columns } from "../columns.ts";
import type { Sql } from "../sql.ts";
import { askHot, createSubscriberMemory, EVENT_COLUMNS, eventCte, hotStatement } from "./event-writes.ts";
import { MAY_BEGIN } from "./held-hosts.ts";
import { tally } from "./tallies.ts";
import { type Flat, FOLLOW_NAMES, followOf } from "./task-columns.ts";
import { holding } from "./task-state.ts";

export interface ClaimRequest {
  readonly teamId: number;
  readonly queueId: number;
  readonly queue: string;
  /** The claim finds no rows if the queue has changed since: the worker must refresh it first. */
  readonly epoch: number;
  readonly workerId: number;
  readonly limit: number;
  /** A circuit breaker of the queue holds hosts back. */
  readonly holdsHosts?: boolean;
}

/** The columns of a claim besides those of the request. */
export const CLAIMED = `id, shape, priority, fence, attempt_count, attempt_started_at, failures, method, url, headers, body,
  body_is_json, max_retries, backoff, retry_delay_seconds, retry_max_delay_seconds, no_retry_statuses, timeout_seconds, sign, message, scheduled_for, ${FOLLOW_NAMES}`;

/** The parts of a claim in which one queue and many differ, as SQL. */
interface ClaimForm {
  /** The queues that are claimed from, with `is_current`. */
  readonly asked: string;
  /** The physical locations of the rows to claim, as `place`. */
  readonly picked: string;
  /** The number of claims of each queue. */
  readonly counted: string;
  readonly answer: string;
}

/** The first due rows of a queue for each priority, as `first`. */
export const firstDue = (of: { team: string; queue: string; limit: string; filter?: string }) =>
  `(values (10), (9), (8), (7), (6), (5), (4), (3), (2), (1)) as p(priority)
       cross join lateral (
         select t.ctid as place, t.id, t.priority, t.due_at from tasks t
          where t.team_id = ${of.team} and t.queue_id = ${of.queue} and t.priority = p.priority
            and t.due_at is not null and t.due_at <= now()
            and (t.deadline_at is null or t.deadline_at > now())${of.filter ?? ""}
          order by t.due_at, t.id
          limit ${of.limit}
            for update skip locked) first`;

const ofOne = (filter = ""): ClaimForm => ({
  asked: `select exists (select 1 from queues where team_id = $1 and id = $2 and epoch = $3)
        and exists (select 1 from workers where id = $4) as is_current`,
  picked: `select first.place
       from asked cross join ${firstDue({ team: "$1", queue: "$2", limit: "$5", filter })}
      where asked.is_current
      limit $5`,
  counted: `select $1::integer as team_id, $2::bigint as queue_id, false as sandbox, count(*) as claims from claimed having count(*) > 0`,
  answer: `select asked.is_current as "isCurrent", ${columns("c", `callback_sealed, run_at, ${CLAIMED}`)}
     from asked left join claimed c on true`,
});

/** The same for the queues in arrays. For a single queue it takes PostgreSQL 8 % longer than the other form. */
const OF_MANY: ClaimForm = {
  asked: `select r.*, found.epoch is not null and exists (select 1 from workers where id = $4) as is_current
       from unnest($1::integer[], $2::bigint[], $3::integer[], $5::integer[]) as r(team_id, queue_id, epoch, most)
       left join lateral (
         select q.epoch from queues q where q.team_id = r.team_id and q.id = r.queue_id and q.epoch = r.epoch limit 1) found on true`,
  picked: `select due.place from asked cross join lateral (
       select first.place
         from ${firstDue({ team: "asked.team_id", queue: "asked.queue_id", limit: "asked.most" })}
        limit asked.most) due
      where asked.is_current`,
  counted: `select team_id, queue_id, false as sandbox, count(*) as claims from claimed
      group by team_id, queue_id order by team_id, queue_id`,
  answer: `select asked.queue_id::float8 as "queueId", asked.is_current as "isCurrent",
          ${columns("c", `callback_sealed, run_at, ${CLAIMED}`)}
     from asked left join claimed c on c.team_id = asked.team_id and c.queue_id = asked.queue_id`,
};

/**
 * One index probe per priority, highest first, each directly to its first due row. Without the probes, every claim
 * would walk over delayed tasks of a high priority. The rows are then updated by their physical location (ctid), which
 * cannot change before this statement ends: by their ids, a plan made for an empty table walked along a list index. The
 * slots were granted under the queue's lock before, so only the claimed rows are locked here.
 */
const claiming = (form: ClaimForm) => (condition: string, tells: boolean) =>
  `with asked as materialized (
     ${form.asked}
      where ${condition}
   ), picked as (
     ${form.picked}
   ), claimed as (
     update tasks t
        set status = 'active', due_at = null, list_key = 'begun', worker_id = $4, fence = fence + 1, attempt_count = attempt_count + 1,
            attempt_started_at = now(), started_at = coalesce(started_at, now()), deadline_at = null
      where t.ctid = any (array(select place from picked))
     returning team_id, queue_id, run_at, encode(callback_sealed, 'hex') as callback_sealed, ${CLAIMED}${
       tells ? `, sandbox, status, ${EVENT_COLUMNS}` : ""
     }
   ), ${holding("claimed", "$4::bigint")}, counted as (
     ${form.counted}
   ), tallied as (
     ${tally({
       from: "counted",
       isSummed: true,
       worker: "$4::bigint",
       writer: "claim",
       deltas: { pending: "-claims", active: "claims" },
     })}
   )${tells ? `, ${eventCte({ from: "claimed", type: "'task.started'", isHot: true })}` : ""}
   ${form.answer}
    order by c.priority desc, c.run_at, c.id`;

const CLAIM_DUE_TASKS = hotStatement("claim_due_tasks", claiming(ofOne()));
const CLAIM_FROM_QUEUES = hotStatement("claim_from_queues", claiming(OF_MANY));

/** For a queue that holds hosts. `holdTasks` has taken out those that may not begin, but for what came due since. */
const CLAIM_UNHELD_TASKS = hotStatement(
  "claim_unheld_tasks",
  claiming(
    ofOne(`
            and ${MAY_BEGIN}`),
  ),
);

/** Without an id if no task was due. */
export type ClaimedRow = { readonly isCurrent: boolean } & (
  | (Flat<Omit<Claim, "attempt" | "teamId" | "queueId" | "queue" | "workerId">> & {
      readonly body: string | null;
      readonly attemptCount: number;
      readonly runAt: Date;
    })
  | { readonly id: null }
);

export interface Claimed {
  /** False if the worker's view of the queue, or the worker itself, is out of date: no task was searched for. */
  readonly isCurrent: boolean;
  /** In start order. */
  readonly claims: readonly Claim[];
  /** How long each of them had been due. */
  readonly waitsMs: readonly number[];
}

/** Takes up to `limit` due tasks of one queue. */
export async function claimDueTasks(
  sql: Sql,
  request: ClaimRequest,
  memory = createSubscriberMemory(),
): Promise<Claimed> {
  const { teamId, queueId, epoch, workerId, limit, holdsHosts } = request;
  const rows = await askHot<ClaimedRow>(
    sql,
    holdsHosts ? CLAIM_UNHELD_TASKS : CLAIM_DUE_TASKS,
    [teamId, queueId, epoch, workerId, limit],
    memory,
  );
  return claimedFrom(rows, request);
}

/**
 * Takes up to `limit` due tasks of each queue, for one worker. No queue may hold hosts. The answers have the order of the
 * requests.
 */
export async function claimFromQueues(
  sql: Sql,
  requests: readonly ClaimRequest[],
  memory = createSubscriberMemory(),
): Promise<readonly Claimed[]> {
  const values = [
    requests.map(({ teamId }) => teamId),
    requests.map(({ queueId }) => queueId),
    requests.map(({ epoch }) => epoch),
    requests[0]?.workerId ?? 0,
    requests.map(({ limit }) => limit),
  ];
  const rows = await askHot<ClaimedRow & { readonly queueId: number }>(
    sql,
    CLAIM_FROM_QUEUES,
    values,
    memory,
  );
  const rowsOf = new Map(requests.map(({ queueId }) => [queueId, [] as ClaimedRow[]]));
  for (const row of rows) rowsOf.get(row.queueId)?.push(row);
  return requests.map((request) => claimedFrom(rowsOf.get(request.queueId) ?? [], request));
}

/** The rows of a claim, in start order. */
export function claimedFrom(rows: readonly ClaimedRow[], request: ClaimRequest): Claimed {
  const claims: Claim[] = [];
  const waitsMs: number[] = [];
  for (const row of rows) {
    if (row.id === null) continue;
    const { id, shape, priority, bodyIsJson, sign, message, method, url, headers, body } = row;
    const call = { method, url, headers: headers ?? {}, body };
    const task = { id, shape, priority, bodyIsJson, sign, message, call, follow: followOf(row) };
    const { fence, attemptCount: attempt, attemptStartedAt, failures, callbackSealed, scheduledFor } = row;
    claims.push(
      makeClaim(task, row, request, {
        fence,
        attempt,
        attemptStartedAt,
        failures,
        callbackSealed,
        scheduledFor,
      }),
    );
    waitsMs.push(attemptStartedAt.getTime() - row.runAt.getTime());
  }
  return { isCurrent: rows[0]?.isCurrent ?? false, claims, waitsMs };
}
