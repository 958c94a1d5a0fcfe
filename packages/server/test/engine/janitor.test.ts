import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createJanitor, type Janitor } from "../../src/engine/janitor.ts";
import { removeOldRecords } from "../../src/service/retention.ts";
import { rollQueueStats } from "../../src/store/tasks/queue-stats.ts";
import { until } from "../patience.ts";
import { openTestStore, type TestStore } from "../test-store.ts";

describe("the janitor", () => {
  let store: TestStore;
  let janitor: Janitor;
  before(async () => {
    store = await openTestStore();
    janitor = createJanitor({ sql: store.database, retentionDays: 30 });
  });
  after(() => store.close());

  const count = async (from: string, ...values: readonly unknown[]) => {
    const [row] = await store.database.rows<{ count: number }>(
      `select count(*)::integer as count from ${from}`,
      values,
    );
    return row?.count ?? 0;
  };

  it("goes on at once while there are more old idempotency keys than it removes in a round", async () => {
    const { teamId } = await store.openQueue();
    await store.database.rows(
      `insert into idempotency_keys (team_id, key, sandbox, request_hash, task_id, created_at)
       select $1, 'key ' || n, false, '\\x00', gen_random_uuid(), now() - interval '25 hours' from generate_series(1, 1500) n`,
      [teamId],
    );

    assert.equal(await janitor.cleanOnce(), 0);
    assert.equal(await count("idempotency_keys"), 500);
    assert.ok((await janitor.cleanOnce()) > 0);
    assert.equal(await count("idempotency_keys"), 0);
  });

  it("goes on at once while there are more deleted queues than it removes in a round", async () => {
    const { teamId, name } = await store.openQueue();
    await store.database.rows(
      "update queues set deleted_at = now() - interval '2 hours' where team_id = $1",
      [teamId],
    );
    const columns = await store.database.rows<{ name: string }>(
      `select quote_ident(column_name) as name from information_schema.columns
        where table_name = 'queues' and table_schema = current_schema() and column_name not in ('id', 'name') and is_generated = 'NEVER'`,
    );
    const others = columns.map((column) => column.name).join(", ");
    await store.database.rows(
      `insert into queues (name, ${others}) select $1 || '-' || n, ${others} from queues, generate_series(1, 150) n where name = $1`,
      [name],
    );

    assert.equal(await janitor.cleanOnce(), 0);
    while ((await janitor.cleanOnce()) === 0);
    assert.equal(await count("queues where deleted_at is not null"), 0);
  });

  it("leaves no statistics of queues that are created, used and deleted again and again", async () => {
    const teamId = await store.openTeam();
    const kept = await store.openQueue({}, teamId);
    for (let round = 0; round < 30; round += 1) {
      const { id } = await store.openQueue({}, teamId);
      await fillStats(teamId, id);
      await store.database.rows("update queues set deleted_at = now() - interval '2 hours' where id = $1", [
        id,
      ]);
    }
    await fillStats(teamId, kept.id);
    const ofOneQueue = await count("queue_stats where queue_id = $1", kept.id);
    const before = await diskOf("queue_stats");

    let rounds = 1;
    for (; (await janitor.cleanOnce()) === 0; rounds += 1)
      assert.ok(await count("queues where id = $1", kept.id), "the other queue is gone");

    assert.equal(await count("queue_stats where team_id = $1", teamId), ofOneQueue);
    assert.equal(await count("queues where team_id = $1", teamId), 1);
    assert.ok(rounds >= (30 * ofOneQueue) / 1_000, `${30 * ofOneQueue} rows in ${rounds} rounds`);
    // Rows that an analysis by autovacuum may still see stay until it ends.
    await until(async () => (await diskOf("queue_stats")) < before / 10);
  });

  it("removes expired statistics a batch at a time", async () => {
    const { teamId, id } = await store.openQueue();
    const old = "queue_stats where at < now() - interval '31 days'";
    await store.database.rows(
      `insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, completed)
       select $1, $2, false, 3600, to_timestamp(floor(extract(epoch from now()) / 3600) * 3600) - interval '40 days', n, 1
         from generate_series(1, 1500) n`,
      [teamId, id],
    );

    assert.equal(await removeOldRecords(store.database, [rollQueueStats]), 0);
    assert.equal(await count(old), 500);
    assert.ok((await removeOldRecords(store.database, [rollQueueStats])) > 0);
    assert.equal(await count(old), 0);
  });

  it("merges old statistics of many queues in portions, with the same sums", async () => {
    const teamId = await store.openTeam();
    await store.database.rows(
      `insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, completed, waits)
       select $1, 1000000 + n, false, 60, to_timestamp(floor(extract(epoch from now()) / 300) * 300) - interval '3 hours', node, n, array[n, node]
         from generate_series(1, 700) n, generate_series(1, 2) node`,
      [teamId],
    );
    const changed: number[] = [];
    const sums =
      "queue_stats s where team_id = $1 and completed = 2 * (queue_id - 1000000) and waits = array[completed, 3]";
    const left = () => count("queue_stats where team_id = $1 and seconds = 60", teamId);

    for (let before = await left(); await rollQueueStats(store.database); ) {
      const now = await left();
      changed.push(before - now);
      before = now;
    }

    assert.ok(Math.max(...changed) <= 1_000, `${changed} rows`);
    assert.equal(await count(sums, teamId), 700);
    assert.equal(await count("queue_stats where team_id = $1", teamId), 700);
  });

  /** As two nodes write them: minutes, and what became of earlier ones. */
  async function fillStats(teamId: number, queueId: number): Promise<void> {
    await store.database.rows(
      `insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, completed, waits, durations)
       select $1, $2, sandbox, seconds, to_timestamp(floor(extract(epoch from now()) / seconds) * seconds - step * seconds),
              case seconds when 60 then node else 0 end, 1, array_fill(3, array[60]), array_fill(4, array[60])
         from (values (60, 10), (300, 20), (3600, 30)) s(seconds, steps), generate_series(0, steps - 1) step,
              generate_series(1, case seconds when 60 then 2 else 1 end) node, (values (false), (true)) e(sandbox)`,
      [teamId, queueId],
    );
  }

  async function diskOf(table: string): Promise<number> {
    await store.database.rows(`vacuum full ${table}`);
    const [row] = await store.database.rows<{ size: number }>(
      "select pg_total_relation_size($1::regclass)::float8 as size",
      [table],
    );
    return row?.size ?? 0;
  }
});
