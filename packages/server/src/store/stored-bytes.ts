import { type Sql, statement } from "./sql.ts";

/** A table of team data, its scan order and its large columns. */
interface Stored {
  readonly table: string;
  /** Its primary key behind the team. */
  readonly key: readonly string[];
  /** The types of these. */
  readonly types: readonly string[];
  readonly large: readonly string[];
  /** Further bytes of a row, with its index entries. */
  readonly rest: number;
}

/**
 * Tables that grow with a team's activity. Tables whose rows a plan limits by number (queues, schedules, tokens …) are
 * left out, and so are rows that are deleted within minutes.
 */
const STORED: readonly Stored[] = [
  {
    table: "tasks",
    key: ["id"],
    types: ["uuid"],
    large: ["headers", "body", "metadata", "poll_config", "poll", "attempts", "result", "error"],
    rest: 300,
  },
  { table: "task_tags", key: ["tag", "task_id"], types: ["text", "uuid"], large: ["tag", "tag"], rest: 100 },
  {
    table: "idempotency_keys",
    key: ["key", "sandbox"],
    types: ["text", "boolean"],
    large: ["key", "key", "callback_sealed"],
    rest: 150,
  },
  { table: "events", key: ["xid", "seq"], types: ["xid8", "bigint"], large: ["queue", "entries"], rest: 120 },
  {
    table: "webhook_deliveries",
    key: ["id"],
    types: ["uuid"],
    large: ["body", "last_error"],
    rest: 250,
  },
  {
    table: "audit_events",
    key: ["id"],
    types: ["uuid"],
    large: ["actor_id", "actor_name", "target", "detail"],
    rest: 200,
  },
  {
    table: "bulk_portions",
    key: ["bulk_id", "number"],
    types: ["uuid", "integer"],
    large: ["task_ids"],
    rest: 80,
  },
];

/** Rows per statement, which takes about a hundredth of a second. */
const SLICE = 5_000;

/**
 * A team's storage on disk; values stored out of line are not read for it. It scans all of the team's rows in slices,
 * so it must not be called often.
 */
export async function readStoredBytes(sql: Sql, teamId: number, slice = SLICE): Promise<number> {
  let bytes = 0;
  for (const stored of STORED) bytes += await readBytesOf(sql, teamId, stored, slice);
  return bytes;
}

async function readBytesOf(sql: Sql, teamId: number, stored: Stored, slice: number): Promise<number> {
  const { table, key, types, large, rest } = stored;
  const keys = key.join(", ");
  const sizes = large.map((column) => `coalesce(pg_column_size(${column}), 0)`);
  const last = key.map((column) => `(array_agg(${column}::text order by ${keys}))[count(*)::integer]`);
  let bytes = 0;
  let after: readonly string[] | null = null;
  do {
    const values: unknown[] = [teamId, slice, ...(after ?? [])];
    const behind = `and (${keys}) > (${types.map((type, index) => `$${index + 3}::${type}`).join(", ")})`;
    const [row]: SliceRow[] = await sql.rows<SliceRow>(
      statement(
        "read_bytes_of",
        `select count(*)::integer as rows, coalesce(sum(size), 0)::float8 as bytes, array[${last.join(", ")}] as last
           from (select ${keys}, ${[rest, ...sizes].join(" + ")} as size from ${table}
                  where team_id = $1 ${after === null ? "" : behind} order by ${keys} limit $2) s`,
        { patience: "list" },
      ),
      values,
    );
    bytes += row?.bytes ?? 0;
    after = row !== undefined && row.rows === slice ? row.last : null;
  } while (after !== null);
  return bytes;
}

interface SliceRow {
  readonly rows: number;
  readonly bytes: number;
  readonly last: readonly string[];
}
