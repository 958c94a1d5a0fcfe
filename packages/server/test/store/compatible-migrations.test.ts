import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";

interface Part {
  readonly kind: "column" | "rule" | "code";
  readonly owner: string;
  readonly name: string;
  readonly definition: string;
  /** Of a column: whether an insert that does not name it fails. */
  readonly isDemanded: boolean;
}

/** Everything that a statement of an older node can depend on: columns, constraints, unique indexes, triggers, functions. */
const PARTS = `
  select 'column' as kind, attrelid::regclass::text as owner, attname::text as name,
         format_type(atttypid, atttypmod) || ' ' || attgenerated::text as definition,
         attnotnull and not atthasdef and attidentity = '' as "isDemanded"
    from pg_attribute join pg_class c on c.oid = attrelid
   where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
  union all
  select 'rule', conrelid::regclass::text, conname::text, pg_get_constraintdef(oid), false
    from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'
  union all
  select 'rule', indrelid::regclass::text, 'index ' || indexrelid::regclass::text, pg_get_indexdef(indexrelid), false
    from pg_index join pg_class c on c.oid = indrelid
   where relnamespace = 'public'::regnamespace and indisunique
  union all
  select 'rule', tgrelid::regclass::text, tgname::text, pg_get_triggerdef(oid), false from pg_trigger where not tgisinternal
  union all
  select 'code', proname::text, pg_get_function_identity_arguments(oid), prosrc, false
    from pg_proc where pronamespace = 'public'::regnamespace`;

/** Tables that others cannot write to, or read, while the transaction of this statement is open. */
const LOCKED = `
  select distinct relation::regclass::text as owner from pg_locks join pg_class c on c.oid = relation
   where pid = pg_backend_pid() and relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
     and mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock', 'ShareUpdateExclusiveLock')`;

const keyOf = ({ kind, owner, name }: Part) => `${kind} ${owner} ${name}`;

/** What statements written for the schema `before` could stumble over in `after`. */
function findObstacles(before: readonly Part[], after: readonly Part[]): string[] {
  const later = new Map(after.map((part) => [keyOf(part), part]));
  const earlier = new Set(before.map(keyOf));
  const owners = new Set(before.map(({ owner }) => owner));
  return [
    ...before.flatMap((part) => {
      const now = later.get(keyOf(part));
      if (now === undefined) return part.kind === "rule" ? [] : [`${keyOf(part)} is gone`];
      if (now.definition !== part.definition) return [`${keyOf(part)} is another`];
      return now.isDemanded && !part.isDemanded ? [`${keyOf(part)} has to be given`] : [];
    }),
    ...after.flatMap((part) => {
      if (earlier.has(keyOf(part)) || !owners.has(part.owner)) return [];
      if (part.kind === "rule") return [`${keyOf(part)} is a new rule for what older nodes write`];
      return part.isDemanded ? [`${keyOf(part)} has to be given`] : [];
    }),
  ];
}

describe("a migration that allows older nodes", () => {
  let test: TestDatabase;
  beforeEach(async () => {
    test = await createTestDatabase({ template: "template0" });
  });
  afterEach(() => test.drop());

  async function obstaclesOf(base: string, ...migrations: readonly string[]): Promise<string[]> {
    await test.database.rows(base);
    const before = await test.database.rows<Part>(PARTS);
    const locked: string[] = [];
    for (const sql of migrations) {
      await test.database.transaction(async (open) => {
        await open.rows(sql);
        const owners = (await open.rows<Part>(LOCKED)).map(({ owner }) => owner);
        const old = owners.filter((owner) => before.some((part) => part.owner === owner));
        if (old.length > 1) locked.push(`locks ${old.sort().join(" and ")} at once`);
      });
    }
    return [...findObstacles(before, await test.database.rows<Part>(PARTS)), ...locked];
  }

  for (const { version, name, oldestNode = version } of MIGRATIONS.filter(
    (each) => (each.oldestNode ?? each.version) < each.version,
  )) {
    it(`only adds to the schema of version ${oldestNode}: ${version}, ${name}`, async () => {
      const between = (first: number, last: number) =>
        MIGRATIONS.filter((each) => each.version > first && each.version <= last).map(({ sql }) => sql);
      assert.ok(MIGRATIONS.some((each) => each.version === oldestNode));
      const base = between(0, oldestNode).join("\n");
      assert.deepEqual(await obstaclesOf(base, ...between(oldestNode, version)), []);
    });
  }

  const BASE = `create table things (id bigint primary key, name text, size integer not null default 1,
                                     constraint size_is_positive check (size > 0));
                create table boxes (id bigint primary key);
                create function half(value integer) returns integer language sql as 'select value / 2'`;

  const ADDITIVE = [
    "alter table things add column note text",
    "alter table things add column level integer not null default 0",
    "alter table things drop constraint size_is_positive",
    "create index things_by_name on things (name)",
    "create table others (id bigint primary key, thing bigint not null references things, check (id > 0))",
    "create function twice(value integer) returns integer language sql as 'select value * 2'",
  ];
  for (const sql of ADDITIVE) {
    it(`is allowed to run: ${sql}`, async () => {
      assert.deepEqual(await obstaclesOf(BASE, sql), []);
    });
  }

  const OTHERS: readonly [sql: string, obstacle: RegExp][] = [
    ["drop table things", /column things id is gone/],
    ["alter table things drop column name", /column things name is gone/],
    ["alter table things rename column name to title", /column things name is gone/],
    ["alter table things alter column size type bigint", /column things size is another/],
    ["alter table things add column owner integer not null", /column things owner has to be given/],
    ["alter table things alter column size drop default", /column things size has to be given/],
    ["alter table things add check (name <> '')", /is a new rule/],
    ["create unique index things_by_name on things (name)", /is a new rule/],
    [
      "alter table things add column note text; alter table boxes add column note text",
      /^locks boxes and things at once$/,
    ],
    ["drop function half", /code half .* is gone/],
    [
      "create or replace function half(value integer) returns integer language sql as 'select value / 3'",
      /code half .* is another/,
    ],
  ];
  for (const [sql, obstacle] of OTHERS) {
    it(`is not allowed to run: ${sql}`, async () => {
      assert.match((await obstaclesOf(BASE, sql)).join("\n"), obstacle);
    });
  }
});
