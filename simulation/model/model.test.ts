import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { createTestDatabase, type TestDatabase } from "../../packages/server/test/test-database.ts";
import { DIST } from "../dist-dir.ts";
import { loadServer } from "../server.ts";
import { simulate } from "../simulate.ts";
import { type Done, isEnd, type Transaction } from "./session.ts";
import { statementName } from "./statements.ts";
import type { NotificationColumns, Tables } from "./tables.ts";

/** Whole runs, with everything that the engine asks a database for. */
const SEEDS = [
  3, 4, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 23, 32, 41, 75, 99, 103, 107, 110, 114, 324, 368, 770, 207,
];

/**
 * A clock that each connection is told, in the place of PostgreSQL's own: a function is looked for in the schemas of the
 * search path, in order. Defaults of columns were bound before, and are bound again.
 */
const CLOCK = `
  create schema clock;
  create function clock.now() returns timestamptz language sql stable
    as $$ select to_timestamp(current_setting('clock.ms')::float8 / 1000) $$;
  create function clock.clock_timestamp() returns timestamptz language sql stable
    as $$ select to_timestamp(current_setting('clock.statement_ms')::float8 / 1000) $$;
  create function clock.statement_timestamp() returns timestamptz language sql stable as 'select clock.clock_timestamp()';
  alter table notifications alter column next_at set default clock.now(), alter column created_at set default clock.now();
  alter table dedupe_keys alter column free_at set default clock.now();
  alter table idempotency_keys alter column created_at set default clock.now();
  alter table schedules alter column created_at set default clock.now(), alter column updated_at set default clock.now();
  alter table bulks alter column created_at set default clock.now(), alter column next_at set default clock.now();
  alter table queues alter column created_at set default clock.now(), alter column updated_at set default clock.now();
  insert into teams (id, name, plan) overriding system value values (1, 'Team', 'enterprise');`;

/** What they answer holds ids of transactions, or is left out of the model. */
const UNLIKE: readonly string[] = [
  "send_hints",
  "insert_audit_event",
  "listen_to",
  "look_at_event_writers",
  "older_statements",
  "read_events",
  "told_tasks",
  // The model has no rows of waiting tasks in lines.
  "join_flow_tasks",
];

/** Where the model did not wait for a lock, PostgreSQL need not either. */
const SESSION = `set search_path = clock, pg_catalog, public; set lock_timeout = '2s'; set synchronous_commit = off;
  set plan_cache_mode = force_generic_plan`;

/** The statements of a run on a real PostgreSQL, in the order in which the model did them. */
class Replay {
  readonly #test: TestDatabase;
  readonly #alone: pg.Client;
  readonly #open = new Map<Transaction, pg.Client>();
  readonly #idle: pg.Client[] = [];
  /** Row versions as the model names them, and as PostgreSQL does. */
  readonly #versions = new Map<string, string>();

  private constructor(test: TestDatabase, alone: pg.Client) {
    this.#test = test;
    this.#alone = alone;
  }

  static async begin(): Promise<Replay> {
    const test = await createTestDatabase();
    await test.database.rows(CLOCK);
    const client = await connect(test);
    return new Replay(test, client);
  }

  async end(): Promise<void> {
    for (const client of [this.#alone, ...this.#idle, ...this.#open.values()]) await client.end();
    await this.#test.drop();
  }

  async carryOut({ atMs, transaction, query, values }: Done): Promise<object[]> {
    const client = transaction === null ? this.#alone : await this.#connectionOf(transaction);
    if (transaction !== null && isEnd(query)) {
      await client.query(query.text);
      this.#idle.push(client);
      this.#open.delete(transaction);
      return [];
    }
    await client.query(
      "select set_config('clock.ms', $1, false), set_config('clock.statement_ms', $2, false)",
      [String(transaction?.beganMs ?? atMs), String(atMs)],
    );
    const translated = await this.#translate(query.name, values);
    const { rows } = await client
      .query({ name: query.name, text: query.text, values: translated })
      .catch((cause: Error) => {
        throw new Error(`${cause.message} in ${query.name} with ${JSON.stringify(values)}`, { cause });
      });
    return rows;
  }

  async #connectionOf(transaction: Transaction): Promise<pg.Client> {
    const known = this.#open.get(transaction);
    if (known !== undefined) return known;
    const client = this.#idle.pop() ?? (await connect(this.#test));
    this.#open.set(transaction, client);
    await client.query("begin");
    return client;
  }

  learnVersion(models: string, real: string): void {
    this.#versions.set(models, real);
  }

  /** What PostgreSQL makes up itself has other names there. */
  async #translate(name: string, values: readonly unknown[]): Promise<unknown[]> {
    if (name === "release_slots") {
      const slots = JSON.parse(String(values[1])) as { version: string }[];
      const translated = slots.map((slot) => ({ ...slot, version: this.#versions.get(slot.version) }));
      return [values[0], JSON.stringify(translated)];
    }
    if (name === "settle_notification") return [values[0], await this.#realId(values[1]), ...values.slice(2)];
    if (name !== "release_notifications") return [...values];
    const held = JSON.parse(String(values[0])) as { id: string }[];
    return [
      JSON.stringify(
        await Promise.all(held.map(async (each) => ({ ...each, id: await this.#realId(each.id) }))),
      ),
    ];
  }

  /** The notifications by their ids in the model. */
  readonly told = new Map<unknown, string>();

  async #realId(id: unknown): Promise<unknown> {
    const named = [...(await this.notifications())].find(([, name]) => name === this.told.get(id));
    return named?.[0];
  }

  /** The notifications by their ids in PostgreSQL. */
  async notifications(): Promise<ReadonlyMap<unknown, string>> {
    const { rows } = await this.#alone.query(
      "select id, task_id, url, (extract(epoch from created_at) * 1000)::float8 as created_at from notifications",
    );
    return new Map(rows.map((row) => [row.id, nameOf(row)]));
  }

  async table(query: string): Promise<object[]> {
    return (await this.#alone.query(query)).rows;
  }
}

async function connect(test: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client(test.connection);
  await client.connect();
  await client.query(SESSION);
  return client;
}

/** A task that was retried by hand ends more than once, and each end may be told to two addresses. */
function nameOf({
  task_id,
  url,
  created_at,
}: Pick<NotificationColumns, "task_id" | "url" | "created_at">): string {
  return `${task_id} ${url} ${created_at}`;
}

/** Without what the two make up, or the model leaves out; in any order, but for the claims, whose order matters. */
function comparable(name: string, rows: readonly object[], told: ReadonlyMap<unknown, string>): unknown[] {
  if (UNLIKE.includes(name)) return [];
  const plain = rows.map((row) => {
    const { version, stats, ...rest } = { version: null, stats: null, ...row } as Record<string, unknown>;
    // The claim of one named task does not ask what else its flow has; the model does not say.
    if (name.endsWith("_head")) delete rest.lanes;
    const known = Object.fromEntries(
      Object.entries(rest)
        .filter(([, value]) => value !== null)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, value]) => [key, UNORDERED.includes(key) ? unordered(value) : value])
        .map(([key, value]) => [key, typeof value === "number" ? Math.round(value * 1e3) / 1e3 : value]),
    );
    if (name === "find_task" && known.notifications !== undefined)
      return { ...known, notifications: toMilliseconds(known.notifications) };
    return name.endsWith("notifications") && "id" in known ? { ...known, id: told.get(known.id) } : known;
  });
  if (name === "claim_due_tasks") return plain;
  if (name.startsWith("claim_flow_")) return plain.sort(byKind);
  return plain.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

/** What was found of the flows comes with the tasks, anywhere among them. */
function byKind(one: Record<string, unknown>, other: Record<string, unknown>): number {
  return Number(one.isTask) - Number(other.isTask);
}

/** Columns that are sets. */
const UNORDERED: readonly string[] = ["notified", "flows", "lanes", "currentQueueIds"];

/** An aggregate has no order. */
function unordered(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

/** PostgreSQL writes an instant in JSON to the microsecond. */
function toMilliseconds(notifications: unknown): unknown {
  return (notifications as { nextAt: string | null }[]).map((each) => ({
    ...each,
    nextAt: each.nextAt === null ? null : Date.parse(each.nextAt),
  }));
}

describe("the model of the store's statements", () => {
  let server: Awaited<ReturnType<typeof loadServer>>;
  before(async () => {
    server = await loadServer(DIST);
  });
  const seen = new Set<string>();

  for (const seed of SEEDS)
    it(`gives the same answers and rows as PostgreSQL in the run of seed ${seed}`, async () => {
      const done: Done[] = [];
      const { tables } = await simulate({ seed, server, onStatement: (each) => done.push(each) });
      const replay = await Replay.begin();
      try {
        for (const row of tables.notifications.values()) replay.told.set(row.id, nameOf(row));
        for (const [number, each] of done.entries()) {
          const rows = await replay.carryOut(each);
          if (isEnd(each.query)) continue;
          const name = statementName(each.query);
          seen.add(each.query.name);
          await compareAnswers(replay, name, each, rows, number);
        }
        await compareTables(replay, tables);
      } finally {
        await replay.end();
      }
    });

  after(() => {
    const rare = [
      "insert_tasks",
      "insert_tasks_plain_alike",
      "insert_tasks_keyed_alike",
      "insert_flow_tasks_plain",
      "settle_attempts",
      "settle_attempts_completed",
      "settle_attempts_completed_flows",
      "claim_due_tasks",
      "claim_from_queues",
      "cancel_task",
      "acquire_slots",
      "release_slots",
      "find_settled",
      "mark_superseded",
      "reap_tasks",
      "insert_tasks_plain_alike_with_events",
      "settle_attempts_with_events",
      "claim_due_tasks_with_events",
      "lock_next_bulk",
      "retry_task",
      "count_turn",
      "take_due_schedules",
      "record_firings",
      "set_queue_rate",
      "lock_queue_rate",
      "move_queue_permits",
      "take_queue_permits",
      "lock_dedupe_keys",
      "lock_untouched",
      "replace_tasks",
      "keep_dedupe_keys",
      "take_idempotency_keys",
      "bind_idempotency_keys",
      "find_taken_key",
      "remove_old_dedupe_keys",
      "set_queue_breaker",
      "count_attempts",
      "end_passes",
      "write_breaker",
      "mark_holding_queue",
      "breakers_to_close",
      "queues_with_open_breakers",
      "hold_tasks",
      "hold_flow_tasks",
      "pass_tasks",
      "revoke_passes",
      "lock_idle_breaker",
      "forget_breaker",
      "claim_unheld_tasks",
      "claim_unheld_flow_tasks",
      "claim_unheld_flow_lines",
      "claim_unheld_ordered_task",
    ];
    assert.deepEqual(
      rare.filter((name) => !seen.has(name)),
      [],
      "the runs reach what there is, the rare too",
    );
  });
});

async function compareAnswers(
  replay: Replay,
  name: string,
  { rows: expected, values }: Done,
  rows: readonly object[],
  number: number,
): Promise<void> {
  const real = name.endsWith("notifications") ? await replay.notifications() : new Map();
  const [models, reals] = [expected, rows].map(
    (each) => (each[0] as { version?: string } | undefined)?.version,
  );
  if (name === "acquire_slots" && models !== undefined && reals !== undefined)
    replay.learnVersion(models, reals);
  assert.deepEqual(
    comparable(name, rows, real),
    comparable(name, expected, replay.told),
    `statement ${number}, ${name} with ${JSON.stringify(values)}`,
  );
}

async function compareTables(replay: Replay, tables: Tables): Promise<void> {
  const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8 as ${column}`;
  const tasks = await replay.table(
    `select id, queue_id::float8, status, priority, url, body, dedupe, expires_in_seconds, max_retries,
            status = 'pending' and due_at is null and flow_due_at is null and not sandbox as is_held, fence, worker_id::float8,
            attempt_count, failures, interruptions, attempts, poll, result, error, failure_reason, callback_hash is null as spent, callback_sealed is null as unsealed, ${["run_at", "created_at", "started_at", "deadline_at", "completed_at", "attempt_started_at"].map(ms).join(", ")}
       from tasks order by id`,
  );
  const columns = Object.keys(tasks[0] ?? {});
  const expected = [...tables.tasks.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  assert.deepEqual(
    tasks,
    expected.map((task) => {
      const row: Record<string, unknown> = {
        ...task,
        spent: task.callback_hash === null,
        unsealed: task.callback_sealed === null,
      };
      return Object.fromEntries(columns.map((column) => [column, row[column]]));
    }),
  );
  assert.deepEqual(
    await replay.table("select worker_id::float8, queue_id::float8, slots from queue_slots order by 1, 2"),
    [...tables.slots.values()]
      .map(({ worker_id, queue_id, slots }) => ({ worker_id, queue_id, slots }))
      .sort((one, other) => one.worker_id - other.worker_id || one.queue_id - other.queue_id),
  );
  assert.deepEqual(
    await replay.table(
      `select task_id, status, attempts, fence, worker_id::float8, ${ms("next_at")} from notifications order by task_id`,
    ),
    [...tables.notifications.values()]
      .map(({ task_id, status, attempts, fence, worker_id, next_at }) => {
        return { task_id, status, attempts, fence, worker_id, next_at };
      })
      .sort((one, other) => (one.task_id < other.task_id ? -1 : 1)),
  );
  assert.deepEqual(
    await replay.table(
      `select queue_id::float8, ${ms("at")}, count from queue_permits where count <> 0 order by queue_id, at`,
    ),
    [...tables.queuePermits]
      .flatMap(([queue_id, counts]) => [...counts].map(([at, count]) => ({ queue_id, at, count })))
      .filter(({ count }) => count !== 0)
      .sort((one, other) => one.queue_id - other.queue_id || one.at - other.at),
  );
  assert.deepEqual(
    await replay.table(
      `select key, sandbox, task_id, ${ms("free_at")} from dedupe_keys order by key collate "C"`,
    ),
    [...tables.dedupeKeys.values()]
      .map(({ key, sandbox, task_id, free_at }) => ({ key, sandbox, task_id, free_at }))
      .sort((one, other) => (one.key < other.key ? -1 : 1)),
  );
  assert.deepEqual(
    await replay.table(
      `select key, task_id, ${ms("created_at")} from idempotency_keys order by key collate "C"`,
    ),
    [...tables.keys.values()]
      .map(({ key, task_id, created_at }) => ({ key, task_id, created_at }))
      .sort((one, other) => (one.key < other.key ? -1 : 1)),
  );
  assert.deepEqual(
    await replay.table(
      `select queue_id::float8, host, phase, failures, cooldown, allowed, ${ms("opened_at")}, ${ms("until")}
         from breakers order by queue_id, host`,
    ),
    [...tables.breakers.values()]
      .map(({ team_id: _, ...row }) => row)
      .sort((one, other) => one.queue_id - other.queue_id || (one.host < other.host ? -1 : 1)),
  );
  assert.deepEqual(
    await replay.table(
      `select task_id, queue_id::float8, host, priority, fence, ${ms("due_at")}, ${ms("passed_at")}
         from breaker_tasks order by task_id`,
    ),
    [...tables.breakerTasks.values()].sort((one, other) => (one.task_id < other.task_id ? -1 : 1)),
  );
  assert.deepEqual(
    await replay.table(
      `select queue_id || ' ' || host as name, ${ms("at")}, failed, total from breaker_counts order by 1, at`,
    ),
    [...tables.breakerCounts]
      .flatMap(([name, counts]) => [...counts].map(([at, count]) => ({ name, at, ...count })))
      .sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : one.at - other.at)),
  );
  assert.deepEqual(
    await replay.table("select id::float8, holds_hosts, epoch from queues order by id"),
    [...tables.queues.values()].map(({ id, holds_hosts, epoch }) => ({ id, holds_hosts, epoch })),
  );
  assert.deepEqual(
    await replay.table("select id, status, matched, done, skipped from bulks order by id"),
    [...tables.bulks.values()]
      .map(({ id, status, matched, done, skipped }) => ({ id, status, matched, done, skipped }))
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
  );
  assert.deepEqual(
    await replay.table(
      `select schedule_id, task_id, ${ms("fires_at")} from schedule_firings order by fires_at`,
    ),
    [...tables.firings].sort((one, other) => one.fires_at - other.fires_at),
  );
  const entries = await replay.table(
    "select json_array_elements(entries) as entry from events order by xid, seq",
  );
  assert.deepEqual(eventsByTask(entries as { entry: Entry }[]), eventsByTask(inOrder(tables.events)));
}

type Entry = readonly [type: string, ids: string | readonly string[], ...rest: unknown[]];

function inOrder(events: Tables["events"]): { entry: Entry }[] {
  return [...events].sort((one, other) => one.xid - other.xid || one.seq - other.seq);
}

/** What each task's listeners are told, in this order. */
function eventsByTask(rows: readonly { readonly entry: Entry }[]): Record<string, string[]> {
  const told: Record<string, string[]> = {};
  for (const {
    entry: [type, ids],
  } of rows) {
    if (type.startsWith("queue.") || type.startsWith("target.")) continue;
    const types = type === "task.handed_off" ? ["task.created", "task.started"] : [type];
    for (const id of typeof ids === "string" ? [ids] : ids) told[id] = [...(told[id] ?? []), ...types];
  }
  return told;
}
