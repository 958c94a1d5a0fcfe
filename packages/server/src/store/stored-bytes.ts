import { type Sql, type Statement, statement } from "./sql.ts";

/**
 * Tables whose rows a team does not pay for, and why. Every other table whose key begins with the team is charged, also
 * one that a later migration creates: a test refuses a table of a team that is neither.
 */
export const UNCHARGED: ReadonlyMap<string, string> = new Map([
  ["api_keys", "who may call"],
  ["invitations", "who may call"],
  ["oauth_applications", "who may call"],
  ["oauth_codes", "who may call"],
  ["oauth_tokens", "who may call"],
  ["sessions", "who may call"],
  ["team_members", "who may call"],
  ["breaker_counts", "counters of calls that are deleted within minutes"],
  ["claim_batches", "calls under way"],
  ["flow_holds", "calls under way"],
  ["flow_permits", "counters of calls that are deleted within minutes"],
  ["queue_permits", "counters of calls that are deleted within minutes"],
  ["queue_slots", "calls under way"],
  ["queue_lines", "one short row for a queue"],
  ["queue_stats", "at most some rows for each hour of a month, removed with the queue, which is charged"],
  ["queue_tallies", "counters, by the number of nodes and not by what a team stores"],
  ["listeners", "one short row"],
  ["sandbox_clocks", "one short row"],
  ["webhook_readers", "one short row"],
]);

/** A table of team data, with what is needed to walk over a team's rows in the order of its key. */
interface ChargedTable {
  readonly table: string;
  /** Its primary key behind the team. */
  readonly key: readonly string[];
  readonly types: readonly string[];
  /** The expression for the bytes of a row with its index entries. */
  readonly size: string;
}

/**
 * The sizes are those of the columns, not of the whole row: for a whole row PostgreSQL reads what is stored out of line. A
 * column counts once for the row and once for each index on all rows. A row has a header of 28 bytes, an index entry
 * one of 16.
 */
const READ_CHARGED_TABLES = statement(
  "read_charged_tables",
  `with team_tables as (
     select c.oid, c.relname, i.indkey::int2[] as key
       from pg_class c
       join pg_index i on i.indrelid = c.oid and i.indisprimary
       join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0] and a.attname = 'team_id'
      where c.relnamespace = current_schema()::regnamespace and not c.relname = any($1::text[])
   ), team_indexes as (
     select i.indrelid, i.indkey::int2[] as key from pg_index i where i.indrelid in (select oid from team_tables) and i.indpred is null
   ), team_columns as (
     select a.attrelid, a.attnum, quote_ident(a.attname) as name, format_type(a.atttypid, a.atttypmod) as type, a.attlen::integer as bytes,
            1 + (select count(*) from team_indexes i where i.indrelid = a.attrelid and a.attnum = any(i.key)) as copies
       from pg_attribute a where a.attrelid in (select oid from team_tables) and a.attnum > 0 and not a.attisdropped
   )
   select quote_ident(t.relname) as "table", k.names as key, k.types,
          concat_ws(' + ', 28 + 16 * (select count(*) from team_indexes where indrelid = t.oid) + s.fixed, s.variable) as size
     from team_tables t
    cross join lateral (
      select array_agg(c.name order by p.place) as names, array_agg(c.type order by p.place) as types
        from unnest(t.key) with ordinality p(attnum, place) join team_columns c on c.attrelid = t.oid and c.attnum = p.attnum
       where p.place > 1) k
    cross join lateral (
      select sum(copies * bytes) filter (where bytes > 0) as fixed,
             string_agg(format('%s * coalesce(pg_column_size(%s), 0)', copies, name), ' + ' order by attnum) filter (where bytes < 0) as variable
        from team_columns where attrelid = t.oid) s
    order by t.relname`,
);

export async function readChargedTables(sql: Sql): Promise<readonly ChargedTable[]> {
  return sql.rows<ChargedTable>(READ_CHARGED_TABLES, [[...UNCHARGED.keys()]]);
}

export type ReadStoredBytes = (teamId: number) => Promise<number>;

/** Rows per statement, which takes about a hundredth of a second. */
const SLICE = 5_000;
/** Rows of each table in the statement that begins with all of them: most teams have no more. */
const FIRST_SLICE = 500;

/**
 * A team's storage on disk, as the database measures it. It scans all of the team's rows in slices, so it must not be
 * called often; values stored out of line are not read for it.
 */
export function createStoredBytes(sql: Sql, slice = SLICE, firstSlice = FIRST_SLICE): ReadStoredBytes {
  /** As the schema was when this node asked first: the tables of a later one are charged by the nodes that know them. */
  let known: Promise<Known> | null = null;

  async function know(): Promise<Known> {
    const tables = await readChargedTables(sql);
    const slices = tables.map(
      (table, index) => `select ${index} as place, s.* from (${sliceOf(table, null)}) s`,
    );
    const begin = statement("begin_stored_bytes", slices.join(" union all "), {
      prepared: true,
      patience: "list",
    });
    return { tables, begin };
  }

  function knownTables(): Promise<Known> {
    known ??= know().catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  }

  async function readRest(teamId: number, table: ChargedTable, begin: readonly string[]): Promise<number> {
    const query = statement("read_stored_bytes", sliceOf(table, table.types), { patience: "list" });
    let bytes = 0;
    for (let after: readonly string[] | null = begin; after !== null; ) {
      const [row]: SliceRow[] = await sql.rows<SliceRow>(query, [teamId, slice, ...after]);
      bytes += row?.bytes ?? 0;
      after = row !== undefined && row.rows === slice ? row.last : null;
    }
    return bytes;
  }

  return async (teamId) => {
    const { tables, begin } = await knownTables();
    const begun = await sql.rows<SliceRow & { readonly place: number }>(begin, [teamId, firstSlice]);
    let bytes = begun.reduce((sum, row) => sum + row.bytes, 0);
    for (const { place, rows, last } of begun) {
      const table = tables[place];
      if (table !== undefined && rows === firstSlice) bytes += await readRest(teamId, table, last);
    }
    return bytes;
  };
}

interface Known {
  readonly tables: readonly ChargedTable[];
  /** The first slice of each table, planned once: planning so many takes longer than reading them. */
  readonly begin: Statement;
}

interface SliceRow {
  readonly rows: number;
  readonly bytes: number;
  readonly last: readonly string[];
}

/** The rows of a team ($1), at most $2, from the first or behind the key in $3 and so on. */
function sliceOf({ table, key, size }: ChargedTable, types: readonly string[] | null): string {
  const keys = key.join(", ");
  const last = key.map((column) => `(array_agg(${column}::text order by ${keys}))[count(*)::integer]`);
  const behind =
    types === null
      ? ""
      : `and (${keys}) > (${types.map((type, index) => `$${index + 3}::${type}`).join(", ")})`;
  return `select count(*)::integer as rows, coalesce(sum(size), 0)::float8 as bytes, array[${last.join(", ")}] as last
            from (select ${keys}, ${size} as size from ${table}
                   where team_id = $1 ${behind} order by ${keys} limit $2) rows_of_team`;
}
