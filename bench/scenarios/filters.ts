import pg from "pg";
import { fillTasks } from "../fill.ts";
import { bellhop, benchQueue } from "../subjects/bellhop.ts";
import { timePage } from "./lists.ts";
import { type Bench, type Scenario, withBellhop } from "./scenario.ts";

const count = 1_000_000;
const hour = 3_600_000;

/** Each finds many, few or none among a million: what is not there takes the longest to look for. */
const filters = {
  "no filter": "",
  "a state": "status=failed",
  "a queue and two states": `queue=${benchQueue}&status=completed,failed`,
  "a tag of half of them": "tag=half",
  "a tag of one in 10,000": "tag=rare",
  "a tag that none has": "tag=none",
  "a tag and a state": "tag=half&status=failed",
  "a host that all have": "host=127.0.0.1",
  "a host that none has": "host=nowhere.example",
  "a provider that none has": "provider=fal",
  "a reason": "failure_reason=retries_exhausted",
  "an answer": "response_code=5xx",
  "an answer that none has": "response_code=418",
  "the last hour": () => `created_after=${new Date(Date.now() - hour).toISOString()}`,
  "before eleven hours ago": () => `created_before=${new Date(Date.now() - 11 * hour).toISOString()}`,
  "oldest first": "order=asc",
};

/** Half of the tasks have a tag, one in 10,000 another, one in 100 has failed. */
const MIX = [
  "update tasks set tags = '{half}' where get_byte(uuid_send(id), 15) % 2 = 0",
  `update tasks set tags = coalesce(tags, '{}') || '{rare}'
    where id in (select id from (select id, row_number() over (order by id) as n from tasks) t where n % 10000 = 0)`,
  "insert into task_tags (team_id, tag, task_id) select team_id, tag, id from tasks cross join unnest(tags) as tag",
  `with failed as (
     update tasks set status = 'failed', list_key = 'failed', failure_reason = 'retries_exhausted', error = 'The target answered 503',
            attempts = '[{"number":1,"status":"failed","code":503,"at":"2026-01-01T00:00:00.000Z","ms":5,"phase":"sent","error":"The target answered 503"}]'
      where get_byte(uuid_send(id), 14) < 3
     returning team_id, queue_id
   )
   update queue_tallies t set completed = t.completed - n, failed = t.failed + n
     from (select team_id, queue_id, count(*) as n from failed group by 1, 2) f
    where t.team_id = f.team_id and t.queue_id = f.queue_id and t.worker_id = 0`,
  "vacuum analyze",
];

export const searches: Scenario = {
  name: "filters",
  about: "ms (median of 20) for a page of 50 tasks of 1,000,000, by each filter, with its total",
  isLight: false,
  starts: 1,
  variants: [{ name: "bellhop", subject: bellhop, measure }],
};

async function measure(bench: Bench): Promise<void> {
  await withBellhop({}, async (rig) => {
    const rows = bench.options.rows(count);
    await fillTasks(rig.subject.databaseUrl, {
      count: rows,
      status: "completed",
      priority: 5,
      runAt: "now()",
      firstSeq: rig.reserve(rows),
      targetUrl: rig.targetUrl,
    });
    const client = new pg.Client(rig.subject.databaseUrl);
    await client.connect();
    for (const text of MIX) await client.query(text);
    await client.end();
    const times: number[] = [];
    for (const [name, filter] of Object.entries(filters)) {
      const query = typeof filter === "string" ? filter : filter();
      const ms = await timePage(rig, `/v1/tasks?limit=50&${query}`, 20);
      bench.record(name, ms);
      times.push(ms);
    }
    bench.record("slowest", Math.max(...times));
  });
}
