import type { NewTask } from "../../domain/task.ts";
import type { Sql } from "../sql.ts";
import {
  CREATED,
  EVENT_COLUMNS,
  eventCte,
  hotStatement,
  type SubscriberMemory,
  tryHot,
} from "./event-writes.ts";
import { IS_ORDERED } from "./flow-claim-parts.ts";
import {
  ANSWER,
  acceptedBy,
  batchValues,
  FIRST_ARRAY,
  messages,
  PLAIN,
  type PlainAnswer,
  plainColumns,
  queueIf,
  SETTINGS,
} from "./plain-tasks.ts";
import type { Accepted, Submission } from "./submission.ts";
import { one, tally } from "./tallies.ts";
import { isPlainOfFlow } from "./task-columns.ts";
import { holding } from "./task-state.ts";

/*
 * Plain tasks of which some have a flow. As in plain-tasks.ts, one statement inserts a batch for one queue. A task with a reserved slot
 * takes its place in the flow in the same statement and starts without a claim, if its flow has only a concurrency, or no limit, and no
 * task of the flow waits.
 *
 * The statement obeys the rules of a claim (flow-claims.ts): it locks the flow's row, skips a row that another transaction has locked,
 * takes no place if the locked row has another version than the snapshot, and changes the version with every place that it takes.
 *
 * If a task of a known key carries other limits than before, the statement takes no place for the whole batch: to store those limits,
 * it may wait for the row of that flow, and it must hold no other row meanwhile.
 */

const RECORD = { id: "uuid", ...PLAIN, message: "jsonb", flow: "text", rank: "integer" } as const;
const COLUMNS = Object.entries(RECORD);
/** $1 has the ids, and from $9 on there is an array for each column. */
const parameter = (index: number) => (index === 0 ? "$1" : `$${FIRST_ARRAY + index - 1}`);
const FIRST_KEYS = FIRST_ARRAY + COLUMNS.length - 1;
const CARRIED = {
  key: "text",
  concurrency: "integer",
  rate: "integer",
  period: "integer",
  ordered: "boolean",
  wanted: "integer",
} as const;
const CARRIED_ARRAYS = Object.values(CARRIED)
  .map((type, index) => `$${FIRST_KEYS + index}::${type}[]`)
  .join(", ");

const TAKEN =
  "id, shape, priority, method, url, headers, body, body_is_json, sign, on_complete_url, message, flow";

const INSERT_PLAIN_FLOW = hotStatement(
  "insert_flow_tasks_plain",
  (condition, tells) => `with carried as materialized (
     select k.*, f.version, f.max_waiting is not null as is_bounded,
            f.key is not null and coalesce((k.concurrency is null or k.concurrency = f.task_concurrency)
                     and (k.rate is null or (k.rate = f.task_rate and k.period = f.task_period))
                     and (k.ordered is null or k.ordered = f.task_ordered), false) as is_kept
       from unnest(${CARRIED_ARRAYS}) as k(${Object.keys(CARRIED).join(", ")})
       left join flows f on f.team_id = $3 and not f.sandbox and f.key = k.key
   ), ${queueIf(`not queues.ordered and not exists (select 1 from carried where is_bounded) and ${condition}`)}, locked as materialized (
     select f.key, k.wanted, coalesce(f.concurrency, f.task_concurrency) as concurrency, f.version = k.version as is_current
       from carried k join flows f on f.team_id = $3 and not f.sandbox and f.key = k.key
      where k.wanted > 0 and not exists (select 1 from carried where not is_kept and version is not null) and exists (select 1 from q)
        and coalesce(f.rate, f.task_rate) is null and f.hold is distinct from 'task' and not ${IS_ORDERED}
        and not f.paused and (f.paused_until is null or f.paused_until <= now())
        and not exists (select 1 from tasks t where t.team_id = $3 and t.flow = k.key and t.flow_due_at is not null)
        for no key update of f skip locked
   ), free as materialized (
     select l.key, place.rank
       from locked l cross join lateral generate_series(1, case when l.concurrency is null then l.wanted else least(
              l.wanted, l.concurrency - (
                select count(*) from flow_holds h where h.team_id = $3 and not h.sandbox and h.flow = l.key)::integer) end) as place(rank)
      where l.is_current
   ), asked as materialized (
     select q.*, a.*, a.held and (a.flow is null or (a.flow, a.rank) in (select key, rank from free)) as begins
       from q cross join unnest(${COLUMNS.map(([, type], index) => `${parameter(index)}::${type}[]`).join(", ")})
              as a(${COLUMNS.map(([name]) => name).join(", ")})
   ), inserted as (
     insert into tasks as t (team_id, queue_id, ${SETTINGS}, sandbox, run_at, created_at, due_at, flow_due_at, list_key,
                        status, started_at, attempt_started_at, attempt_count, fence, worker_id, ${TAKEN})
     select team_id, queue_id, ${SETTINGS}, sandbox, asked_at, asked_at,
            case when not begins and flow is null then asked_at end, case when not begins and flow is not null then asked_at end,
            case when begins then 'begun' else 'pending' end, case when begins then 'active' else 'pending' end,
            case when begins then asked_at end, case when begins then asked_at end, begins::integer, begins::integer,
            case when begins then $2::bigint end, ${TAKEN}
       from asked
     returning t.team_id, t.queue_id, t.sandbox, t.status, t.id, t.flow${tells ? `, ${EVENT_COLUMNS}` : ""}
   ), placed as (
     insert into flow_holds (team_id, sandbox, flow, task_id, fence)
     select team_id, false, flow, id, 1 from inserted where status = 'active' and flow is not null
   ), marked as (
     update flows f set version = f.version + 1, used_at = greatest(f.used_at, date_trunc('hour', now()))
      where f.team_id = $3 and not f.sandbox
        and f.key = any (array(select distinct flow from inserted where status = 'active' and flow is not null))
   ), figured as (
     insert into flows as f (team_id, sandbox, key, task_concurrency, task_rate, task_period, task_ordered)
     select q.team_id, false, k.key, k.concurrency, k.rate, k.period, k.ordered from q cross join carried k
      where not k.is_kept
      order by k.key
     on conflict (team_id, sandbox, key) do update
        set task_concurrency = coalesce(excluded.task_concurrency, f.task_concurrency),
            task_rate = coalesce(excluded.task_rate, f.task_rate),
            task_period = coalesce(excluded.task_period, f.task_period),
            task_ordered = coalesce(excluded.task_ordered, f.task_ordered),
            line_at = case when coalesce(f.ordered, excluded.task_ordered, f.task_ordered, false) then f.line_at end
   ), tallied as (
     ${tally({
       from: "inserted",
       worker: "$2::bigint",
       writer: "intake",
       deltas: { pending: one("status = 'pending'"), active: one("status = 'active'") },
     })}
   ), ${holding("inserted", "$2::bigint", "status = 'active'")}${tells ? `, ${eventCte({ ...CREATED, isHot: true })}` : ""}
   select ${ANSWER}, array(select id from inserted where status = 'active') as "begunIds" from q`,
);

/** Answers in the order of the submissions. */
export async function insertPlainFlowTasks(
  sql: Sql,
  submissions: readonly Submission[],
  workerId: number,
  memory: SubscriberMemory,
): Promise<Accepted[] | "not plain" | "nothing done"> {
  // A node that makes no calls has a number below 0.
  if (workerId <= 0 || !submissions.every(({ task }) => isPlainOfFlow(task))) return "not plain";
  const batch = batchValues(submissions, workerId);
  if (batch === null) return "not plain";
  const { ranks, carried } = flowColumns(submissions);
  const [stored] = await tryHot<PlainAnswer & { readonly begunIds: readonly string[] }>(
    sql,
    INSERT_PLAIN_FLOW,
    [
      ...batch,
      ...plainColumns(submissions),
      messages(submissions),
      submissions.map(({ task }) => task.flow?.key ?? null),
      ranks,
      ...carried,
    ],
    memory,
  );
  if (stored === undefined) return "nothing done";
  const begun = new Set(stored.begunIds);
  const accepted = acceptedBy(stored);
  return submissions.map(({ task: { id } }) => accepted(id, begun.has(id)));
}

type Figures = Pick<NonNullable<NewTask["flow"]>, "concurrency" | "rate" | "period" | "ordered">;

/**
 * `ranks`: which place of its flow each task with a slot needs, by priority. `carried`: the limits that the tasks of each flow carry. Of
 * each limit, the newest task's counts.
 */
function flowColumns(submissions: readonly Submission[]): { ranks: number[]; carried: unknown[][] } {
  const flows = new Map<string, Figures & { wanted: number }>();
  const ranks = submissions.map(() => 0);
  const byId = [...submissions.keys()].sort((a, b) => {
    return (submissions[a]?.task.id ?? "") < (submissions[b]?.task.id ?? "") ? -1 : 1;
  });
  for (const index of byId) {
    const flow = submissions[index]?.task.flow ?? null;
    if (flow === null) continue;
    const before = flows.get(flow.key);
    flows.set(flow.key, {
      concurrency: flow.concurrency ?? before?.concurrency ?? null,
      rate: flow.rate ?? before?.rate ?? null,
      period: flow.rate === null ? (before?.period ?? null) : flow.period,
      ordered: flow.ordered ?? before?.ordered ?? null,
      wanted: 0,
    });
  }
  const priorityOf = (index: number) => submissions[index]?.task.priority ?? 0;
  for (const index of byId.sort((a, b) => priorityOf(b) - priorityOf(a))) {
    const { task, reservation = null } = submissions[index] ?? {};
    const flow = flows.get(task?.flow?.key ?? "");
    if (flow === undefined || reservation === null) continue;
    flow.wanted += 1;
    ranks[index] = flow.wanted;
  }
  const column = (name: keyof typeof CARRIED & keyof Figures) =>
    [...flows.values()].map((each) => each[name]);
  const carried = [
    [...flows.keys()],
    column("concurrency"),
    column("rate"),
    column("period"),
    column("ordered"),
    [...flows.values()].map(({ wanted }) => wanted),
  ];
  return { ranks, carried };
}
