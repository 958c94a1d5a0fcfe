import { registerWorker } from "../../src/store/tasks/workers.ts";
import { createTestDatabase } from "../test-database.ts";
import type { TextDatabase, TextSql } from "../test-sql.ts";
import { type Rows, TABLES, type Table } from "./team-rows.ts";
import type { TeamTables } from "./team-tables.ts";

/** The instant of the claims. */
export const NOW = new Date("2030-01-01T00:00:00Z");
const NOW_SQL = `timestamptz '${NOW.toISOString()}'`;

/** Time is frozen, so that a state may be exactly at an edge. PostgreSQL looks for a function in the schemas of the search path, in order. */
const FROZEN_CLOCK = `
  create schema frozen;
  create function frozen.now() returns timestamptz language sql stable as $$ select ${NOW_SQL} $$;
  create function frozen.statement_timestamp() returns timestamptz language sql stable as $$ select ${NOW_SQL} $$`;

export interface TeamDatabase {
  readonly database: TextDatabase;
  /** The worker that claims. */
  readonly workerId: number;
  /** Another worker, whose calls are under way. */
  readonly busyWorkerId: number;
  close(): Promise<void>;
}

export async function openTeamDatabase(): Promise<TeamDatabase> {
  const test = await createTestDatabase();
  await test.database.rows(FROZEN_CLOCK);
  await test.database.rows(
    `alter database ${test.connection.database} set search_path = frozen, pg_catalog, public`,
  );
  const database = test.openAnew(1);
  const workerId = await registerWorker(database, "claims", 60_000);
  const busyWorkerId = await registerWorker(database, "busy", 60_000);
  return { database, workerId, busyWorkerId, close: test.drop };
}

/** Columns that no decision depends on. */
const FIXED: Partial<Record<Table, string>> = {
  queues: "max_retries, backoff, retry_delay_seconds, timeout_seconds",
  breakers: "failures, opened_at, cooldown, allowed",
  flow_permits: "sandbox",
  flow_holds: "sandbox",
  flow_line_tasks: "sandbox",
  flows: "sandbox",
  tasks: "shape, method, timeout_seconds, max_retries, backoff, retry_delay_seconds",
};
const FIXED_VALUES: Partial<Record<Table, string>> = {
  queues: "3, 'fixed', 1, 30",
  breakers: `1, ${NOW_SQL}, 30, 1`,
  flow_permits: "false",
  flow_holds: "false",
  flow_line_tasks: "false",
  flows: "false",
  tasks: "'queue', 'POST', 30, 3, 'fixed', 1",
};

/** Identities that the teams choose. */
const OVERRIDING: Partial<Record<Table, string>> = { queues: "overriding system value" };

interface Column {
  readonly name: string;
  readonly type: string;
}

const columnsOf = (table: Table): Column[] =>
  TABLES[table].split(",").map((column) => {
    const [name = "", type = ""] = column.trim().split(/\s+/);
    return { name, type };
  });

/** Times are milliseconds from now: they are the columns of this type. */
const isTime = ({ type }: Column) => type === "float8";

const toTime = (name: string) =>
  `case when ${name} = '-Infinity' then '-infinity' else ${NOW_SQL} + ${name} * interval '1 millisecond' end`;

const fromTime = (name: string) =>
  `case when isfinite(${name}) then (extract(epoch from ${name} - ${NOW_SQL}) * 1000)::float8 when ${name} is not null then '-Infinity' end as ${name}`;

const inserted = (table: Table) => {
  const columns = columnsOf(table);
  const fixed = FIXED[table];
  const names = ["team_id", ...columns.map(({ name }) => name), ...(fixed === undefined ? [] : [fixed])];
  const values = [
    "team_id",
    ...columns.map((column) => (isTime(column) ? toTime(column.name) : column.name)),
    ...(fixed === undefined ? [] : [FIXED_VALUES[table]]),
  ];
  return `in_${table} as (
    insert into ${table} (${names.join(", ")}) ${OVERRIDING[table] ?? ""}
    select ${values.join(", ")}
      from jsonb_to_recordset($1::jsonb -> '${table}') as r(team_id integer, ${TABLES[table]}))`;
};

const TABLE_NAMES = Object.keys(TABLES) as Table[];

const LOAD = `with in_teams as (
    insert into teams (id, name, plan) overriding system value
    select id, 'team', 'free' from generate_series($2::integer, $3::integer) as t(id)
  ), ${TABLE_NAMES.map(inserted).join(", ")} select 1`;

/** Stores many teams at once. */
export async function storeTeams(
  sql: TextSql,
  rows: readonly Rows[],
  first: number,
  last: number,
): Promise<void> {
  const all = Object.fromEntries(TABLE_NAMES.map((table) => [table, rows.flatMap((each) => each[table])]));
  const text = JSON.stringify(all, (_, value) => (value === Number.NEGATIVE_INFINITY ? "-Infinity" : value));
  await sql.rows(LOAD, [text, first, last]);
}

/** What these teams have now, by team. */
export async function readTeams(
  sql: TextSql,
  first: number,
  last: number,
): Promise<ReadonlyMap<number, TeamTables>> {
  const teams = new Map<number, Rows>();
  for (let teamId = first; teamId <= last; teamId += 1)
    teams.set(teamId, Object.fromEntries(TABLE_NAMES.map((table) => [table, []])) as unknown as Rows);
  for (const table of TABLE_NAMES) {
    const columns = columnsOf(table).map((column) =>
      isTime(column)
        ? fromTime(column.name)
        : column.type === "bigint"
          ? `${column.name}::float8`
          : column.name,
    );
    const rows = await sql.rows<Record<string, unknown> & { team_id: number }>(
      `select team_id, ${columns.join(", ")} from ${table} where team_id between $1 and $2`,
      [first, last],
    );
    for (const row of rows) teams.get(row.team_id)?.[table].push(row);
  }
  return teams as ReadonlyMap<number, object> as ReadonlyMap<number, TeamTables>;
}
