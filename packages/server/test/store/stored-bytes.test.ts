import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { CALL_LIMITS } from "../../src/domain/call.ts";
import {
  createStoredBytes,
  type ReadStoredBytes,
  readChargedTables,
  UNCHARGED,
} from "../../src/store/stored-bytes.ts";
import { newTask, openTestStore, type TestStore } from "../test-store.ts";

/** Rows of a table with texts, which do not compress, and of one without: so many that the first pages of a file do not matter. */
const ROWS = { long: 60, short: 600 };
const LONG = 1500;
/** An index entry must fit into a third of a page. */
const INDEXED = 200;

describe("the stored bytes of a team", () => {
  let store: TestStore;
  let read: ReadStoredBytes;
  before(async () => {
    store = await openTestStore();
    read = createStoredBytes(store.database);
  });
  after(() => store.close());

  it("are of every table of a team, but for those that are named with a reason", async () => {
    const rows = await store.database.rows<{ name: string }>(
      `select c.table_name as name from information_schema.columns c
         join information_schema.tables t using (table_schema, table_name)
        where c.table_schema = current_schema() and c.column_name = 'team_id' and t.table_type = 'BASE TABLE'`,
    );
    const charged = (await readChargedTables(store.database)).map(({ table }) => table);
    assert.ok(charged.length > 20);
    assert.deepEqual([...charged, ...UNCHARGED.keys()].sort(), rows.map(({ name }) => name).sort());
  });

  it("are a third of the disk at least, and never more, for every table filled with long values", async () => {
    const { database } = store;
    await dropChecks();
    const teamId = await store.openTeam();
    const wrong: string[] = [];
    for (const { table } of await readChargedTables(database)) {
      const earlier = { disk: await diskOf(table), counted: await read(teamId) };
      await fill(table, teamId);
      const disk = (await diskOf(table)) - earlier.disk;
      const counted = (await read(teamId)) - earlier.counted;
      if (counted > disk || counted < disk / 3) wrong.push(`${table}: ${counted} counted, ${disk} on disk`);
    }
    assert.deepEqual(wrong, []);
  });

  it("contain the whole URL of a task", async () => {
    const queue = await store.openQueue({}, await store.openTeam());
    const sizeOf = async (url: string) => {
      const earlier = await read(queue.teamId);
      await store.insert(queue, { call: { ...newTask(queue).call, url } });
      return (await read(queue.teamId)) - earlier;
    };
    const short = await sizeOf("http://localhost/");
    const noise = Array.from({ length: 200 }, (_, index) => hash("sha256", `${index}`, "base64url"));
    const long = await sizeOf(`http://localhost/${noise.join("")}`.slice(0, CALL_LIMITS.url));
    assert.ok(long - short > CALL_LIMITS.url * 0.9, `${short} and ${long} bytes`);
  });

  it("are the same in slices of every size", async () => {
    const { database } = store;
    const { teamId } = await store.openQueue({}, await store.openTeam());
    await database.rows(
      "insert into task_tags select $1, repeat('t', n), gen_random_uuid() from generate_series(1, 9) n",
      [teamId],
    );
    const whole = await read(teamId);
    for (const [slice, first] of [
      [4, 3],
      [1, 1],
      [9, 9],
    ])
      assert.equal(await createStoredBytes(database, slice, first)(teamId), whole);
  });

  async function diskOf(table: string): Promise<number> {
    const [row] = await store.database.rows<{ size: number }>(
      "select pg_total_relation_size($1::regclass)::float8 as size",
      [table],
    );
    return row?.size ?? 0;
  }

  /** A row of any values takes as much room as one of meaningful values. */
  async function dropChecks(): Promise<void> {
    const rows = await store.database.rows<{ text: string }>(
      `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as text
         from pg_constraint where contype in ('c', 'f') and connamespace = current_schema()::regnamespace`,
    );
    for (const { text } of rows) await store.database.rows(text);
  }

  async function fill(table: string, teamId: number): Promise<void> {
    const columns = await store.database.rows<{
      name: string;
      type: string;
      place: number;
      isIndexed: boolean;
    }>(
      `select a.attname as name, format_type(a.atttypid, null) as type, a.attnum::integer as place,
              exists (select 1 from pg_index i where i.indrelid = a.attrelid and a.attnum = any(i.indkey)) as "isIndexed"
         from pg_attribute a
        where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attidentity = '' and a.attname <> 'team_id'`,
      [table],
    );
    const names = columns.map(({ name }) => `, ${name}`).join("");
    const values = columns
      .map(({ type, place, isIndexed }) => `, ${rowValue(type, place, isIndexed)}`)
      .join("");
    const isLong = columns.some(({ type, isIndexed }) => /text|json|bytea/.test(type) && !isIndexed);
    const rows = isLong ? ROWS.long : ROWS.short;
    await store.database.rows(
      `with noise as materialized (select string_agg(md5(n::text), '') as text from generate_series(1, 110) n)
       insert into ${table} (team_id${names}) select $1${values} from generate_series(1, ${rows}) n, noise`,
      [teamId],
    );
  }
});

/** Of the row n. */
function rowValue(type: string, place: number, isIndexed: boolean): string {
  const text = `substr(noise.text, (n * 37 + ${place} * 101) % 2000 + 1, ${isIndexed ? INDEXED : LONG})`;
  const values: Record<string, string> = {
    text,
    json: `to_json(${text})`,
    jsonb: `to_jsonb(${text})`,
    bytea: `decode(${text}, 'hex')`,
    "text[]": `array[${text}, ${text}]`,
    "uuid[]": "array(select md5(n || ' ' || m)::uuid from generate_series(1, 50) m)",
    "smallint[]": "array(select m from generate_series(1, 20) m)",
    "integer[]": "array(select m from generate_series(1, 20) m)",
    uuid: `md5(n || ' ${place}')::uuid`,
    "timestamp with time zone": "now() + make_interval(secs => n)",
    "double precision": "n",
    boolean: "n % 2 = 0",
    smallint: "n",
    integer: "n",
    bigint: "n",
    xid8: "n::text::xid8",
  };
  const value = values[type];
  if (value === undefined) throw new Error(`No value of the type ${type}`);
  return value;
}
