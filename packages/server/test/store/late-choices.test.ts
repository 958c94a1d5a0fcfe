import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import type { Statement } from "../../src/store/sql.ts";
import { ROOT, SERVER } from "../places.ts";
import { listStatements } from "../statement-list.ts";
import { closing, type Keys, keysOf, type Write, writesOf } from "../statement-writes.ts";

/*
 * The race: a statement chooses rows by a condition, and updates or deletes them by their keys. It waits for a row that another
 * transaction has locked. After that PostgreSQL looks at the row again, but asks only what the update itself says: the keys, which
 * still fit. See docs/decisions/0049-late-choices.md.
 */

/** The statements whose rows an earlier statement of the same transaction has locked. */
const LOCKED_BEFORE: Record<string, string> = {
  bind_idempotency_keys: "take_idempotency_keys",
  keep_dedupe_keys: "lock_dedupe_keys",
  move_alert_channels: "lock_alert",
  write_alert_standings: "lock_enabled_alerts",
  record_firings: "take_due_schedules",
  set_to_sandbox_time: "lock_due_steps",
  plan_steps: "lock_due_steps",
};

/** They remove the places of a flow that seemed full. */
const CLAIMS_OF_FLOWS = ["claim_flow_head", "claim_flow_tasks", "claim_unheld_flow_tasks"].flatMap((name) => [
  name,
  `${name}_with_events`,
]);

const EXCEPTIONS: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(LOCKED_BEFORE).map(([name, by]) => [name, `locked by ${by} in the same transaction`]),
  ),
  ...Object.fromEntries(
    CLAIMS_OF_FLOWS.map((name) => [
      name,
      "the flow is locked; the place of an attempt that has ended is never used again",
    ]),
  ),
  remove_empty_deleted_queues:
    "the queue is locked; statistics are chosen by their keys alone, which never change",
  remove_old_queue_stats: "the rows are chosen by their keys alone, which never change",
  roll_step: "the rows are chosen by their keys alone, which never change",
  shrink_slots: "only this worker adds slots, and it starts no further call",
};

/** The rows of these tables change only under the lock of another row. Of flow_permits a count may change, which nothing is chosen by. */
const GUARDS: Record<string, string> = {
  breaker_tasks: "tasks",
  flow_line_tasks: "flows",
  flow_permits: "flows",
};

/** Conditions that ask other tables about a value of the row. */
const STALE_EXCEPTIONS: Record<string, string> = {
  remove_replaced_session_keys: "keys never change",
  refresh_line: "a task that joins the line again changes `begun`, which is asked again",
  end_session_of: "a session without its membership lets nobody in, and its person may end it",
  remove_settled_batches: "a batch never changes",
  begin_sandbox_line:
    "the flow is locked in the same transaction, and a task begins and joins the line only under that lock",
  forget_lost_bulk_portions: "a bulk action is stored within a day of its portions, or never",
  sweep_flow_holds: "a task that is retried takes another place",
  claim_unheld_ordered_task: "the lock of the queue, which every change of its breakers takes",
};

/** Statements whose text depends on the request and is made elsewhere. Each only reads. */
const MADE_ELSEWHERE = [
  "begin_stored_bytes",
  "find_schedule",
  "read_stored_bytes",
  "search_messages",
  "search_tasks",
];

/** A statement of this text: what is wrong with its writes. */
function faultsOf(text: string, keys: Keys): string[] {
  return writesOf(text, keys).flatMap((write) => faultOf(write) ?? []);
}

function faultOf({ table, isByKeys, repeated, isCascade, locked, stale }: Write): string | null {
  if (isCascade || locked.includes(table) || locked.includes(GUARDS[table] ?? table)) return null;
  if (isByKeys && repeated.length === 0) return `${table}: by keys alone`;
  return stale.length > 0 ? `${table}: by other tables` : null;
}

describe("updates and deletes by keys", () => {
  let keys: Keys;
  let statements: readonly Statement[];
  before(async () => {
    keys = keysOf(await readFile(join(ROOT, "docs/schema.sql"), "utf8"));
    statements = await listStatements();
  });

  function withFault(fault: string): string[] {
    const found = statements.filter(({ text }) => faultsOf(text, keys).some((each) => each.endsWith(fault)));
    return [...new Set(found.map(({ name }) => name))].sort();
  }

  it("lock what they choose or repeat the condition, with few exceptions", () => {
    assert.deepEqual(withFault("by keys alone"), Object.keys(EXCEPTIONS).sort());
    assert.deepEqual(withFault("by other tables"), Object.keys(STALE_EXCEPTIONS).sort());
  });

  it("are excused only by statements that lock", () => {
    for (const name of new Set(Object.values(LOCKED_BEFORE))) {
      const text = statements.find((statement) => statement.name === name)?.text ?? "";
      assert.match(text, /\bfor update\b|\bon conflict\b.*\bdo update\b/s, name);
    }
  });

  it("are all seen: a statement whose text depends on the request only reads", async () => {
    const home = join(SERVER, "src");
    const files = (await readdir(home, { recursive: true })).filter((name) => name.endsWith(".ts"));
    const texts = await Promise.all(files.map((name) => readFile(join(home, name), "utf8")));
    const named = texts.flatMap((file) =>
      [...file.matchAll(/\bstatement\(\s*["`]([\w${}]+)["`],/g)].map(({ 0: call, 1: name = "", index }) => {
        const from = index + call.length;
        const text = file.slice(from, closing(file, from));
        return { name, text };
      }),
    );
    const unseen = named.filter(({ name }) => {
      const made = new RegExp(`^${name.replace(/\$\{\w+\}/g, "\\w+")}$`);
      return !statements.some((statement) => made.test(statement.name));
    });
    assert.ok(statements.length > 400 && named.length > 300 && unseen.length > 5);
    assert.deepEqual(
      unseen
        .filter(({ text }) => !/\bselect\b/.test(text))
        .map(({ name }) => name)
        .sort(),
      MADE_ELSEWHERE,
    );
    for (const { name, text } of unseen)
      assert.doesNotMatch(text, /\b(?:delete from|update \w+ (?:\w+ )?set)\b/, name);
  });

  for (const [name, text] of Object.entries({
    "a subquery in `using`":
      "delete from tasks t using (select team_id, id from tasks where completed_at < now()) old where t.team_id = old.team_id and t.id = old.id",
    "a CTE":
      "with old as (select team_id, id from tasks where completed_at < now()) delete from tasks t using old e where t.team_id = e.team_id and t.id = e.id",
    "a CTE behind another":
      "with seen as (select * from tasks where status = 'failed'), old as (select * from seen limit 1) update tasks t set status = 'x' from old where t.team_id = old.team_id and t.id = old.id returning t.id",
    "a CTE within a statement that goes on":
      "with old as (select team_id, id from tasks), gone as (delete from tasks t using old where t.team_id = old.team_id and t.id = old.id returning t.id) select * from gone where id <> '1'",
    "keys in a subquery":
      "delete from tasks where team_id = $1 and id in (select id from tasks where team_id = $1 and status = 'failed')",
    "places in a subquery":
      "delete from tasks t where t.ctid = any (array(select ctid from tasks where status = 'failed'))",
    "one key from a subquery":
      "update tasks set error = 'x' where team_id = $1 and id = (select min(id) from tasks)",
    "a list of keys": "delete from tasks where team_id = $1 and id = any($2::uuid[])",
    "rows of a list":
      "update tasks t set error = j.error from jsonb_to_recordset($1::jsonb) as j(team_id integer, id uuid, error text) where t.team_id = j.team_id and t.id = j.id",
    "keys of unnest":
      "update tasks t set error = '' from unnest($1::integer[], $2::uuid[]) as j(team_id, id) where t.team_id = j.team_id and t.id = j.id",
    "another table":
      "delete from simulations s using tasks t where s.team_id = t.team_id and s.task_id = t.id and t.status = 'failed'",
    "a lock of another table":
      "with old as (select t.team_id, t.id from queues q join tasks t on t.queue_id = q.id for update of q) delete from tasks t using old where t.team_id = old.team_id and t.id = old.id",
    "a lock that lets others change the row":
      "with old as (select team_id, id from tasks where status = 'failed' for key share) delete from tasks t using old where t.team_id = old.team_id and t.id = old.id",
    "a lock within a condition":
      "with old as (select team_id, id from tasks where exists (select 1 from queues q join tasks t on t.queue_id = q.id for update of q)) delete from tasks t using old where t.team_id = old.team_id and t.id = old.id",
    "a lock of what is outside a condition":
      "with old as (select q.team_id, q.id from queues q where not exists (select 1 from tasks t where t.queue_id = q.id) for update) delete from tasks t using old where t.team_id = old.team_id and t.id = old.id",
    "an argument with the name of a column":
      "delete from tasks t using (select team_id, id from tasks where completed_at < now()) old where t.team_id = old.team_id and t.id = old.id and make_interval(secs => $1) > $2",
    "a condition of the source alone":
      "delete from tasks t using (select * from tasks) old where t.team_id = old.team_id and t.id = old.id and old.status = 'failed'",
  }))
    it(`are refused: ${name}`, () => {
      assert.match(faultsOf(text, keys).join(), /^(?:tasks|simulations): by keys alone$/);
    });

  it("are refused: another table that is asked about a value of the row", () => {
    const text =
      "update notifications d set worker_id = null where d.worker_id is not null and not exists (select 1 from workers w where w.id = d.worker_id)";
    assert.deepEqual(faultsOf(text, keys), ["notifications: by other tables"]);
    const byKey =
      "delete from queues q where q.deleted_at < now() and not exists (select 1 from tasks t where t.team_id = q.team_id and t.queue_id = q.id)";
    assert.deepEqual(faultsOf(byKey, keys), ["queues: by other tables"]);
  });

  for (const [name, text] of Object.entries({
    "locked rows":
      "delete from tasks t using (select team_id, id from tasks where status = 'failed' for update skip locked) old where t.team_id = old.team_id and t.id = old.id",
    "rows of a subquery that is locked":
      "delete from tasks t using (select * from (select team_id, id from tasks where status = 'failed') old for update) old where t.team_id = old.team_id and t.id = old.id",
    "the condition again":
      "delete from tasks t using (select team_id, id from tasks where status = 'failed') old where t.team_id = old.team_id and t.id = old.id and t.status = 'failed'",
    "a fence":
      "update tasks t set error = '' from unnest($1::uuid[], $2::integer[]) as j(id, fence) where t.team_id = $3 and t.id = j.id and t.fence = j.fence",
    "the row that the caller names":
      "update tasks t set error = clock.at from (select now() as at) clock where t.team_id = $1 and t.id = $2",
    "what belongs to a deleted row":
      "with gone as (delete from tasks where team_id = $1 and id = $2 returning team_id, id) delete from simulations s using gone g where s.team_id = g.team_id and s.task_id = g.id",
    "no update at all":
      "insert into tasks (id) values (1) on conflict (id) do update set id = any(array(select 1)) where true",
  }))
    it(`are let through: ${name}`, () => {
      assert.deepEqual(faultsOf(text, keys), []);
    });
});
