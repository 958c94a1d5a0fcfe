import type { NodeRole } from "../domain/node-role.ts";
import type { NodeStatus } from "../domain/node-status.ts";
import { type Sql, statement } from "./sql.ts";

export interface NodeBeat {
  readonly workerId: number | null;
  readonly callsInFlight: number;
  /** The longest delay of its event loop since the beat before. */
  readonly loopLagMs: number;
  readonly nowMs: number;
}

export interface NewNode extends NodeBeat {
  readonly name: string;
  readonly role: NodeRole;
  readonly version: string;
  readonly maxInFlight: number;
  readonly startedMs: number;
}

/** The offset of a node's reported clock from the database's. */
const OFFSET = "($4::float8 - extract(epoch from clock_timestamp()) * 1000)";

const INSERT_NODE = statement(
  "insert_node",
  `insert into nodes (name, role, version, started_at, seen_at, worker_id, calls_in_flight, max_in_flight, clock_offset_ms, loop_lag_ms)
   values ($1, $2, $3, clock_timestamp() - make_interval(secs => ($4::float8 - $8::float8) / 1000), clock_timestamp(), $5, $6, $7, ${OFFSET}, $9)
   returning id::float8 as id`,
);

export async function insertNode(sql: Sql, node: NewNode): Promise<number> {
  const { workerId, callsInFlight, loopLagMs, nowMs, name, role, version, maxInFlight, startedMs } = node;
  const rows = await sql.rows<{ id: number }>(INSERT_NODE, [
    name,
    role,
    version,
    nowMs,
    workerId,
    callsInFlight,
    maxInFlight,
    startedMs,
    loopLagMs,
  ]);
  return rows[0]?.id ?? 0;
}

const BEAT_NODE = statement(
  "beat_node",
  `update nodes set seen_at = clock_timestamp(), worker_id = $2, calls_in_flight = $3, clock_offset_ms = ${OFFSET}, loop_lag_ms = $5
    where id = $1 returning id`,
);

/** False if the row does not exist. */
export async function beatNode(
  sql: Sql,
  id: number,
  { workerId, callsInFlight, loopLagMs, nowMs }: NodeBeat,
): Promise<boolean> {
  const rows = await sql.rows(BEAT_NODE, [id, workerId, callsInFlight, nowMs, loopLagMs]);
  return rows.length === 1;
}

const REMOVE_NODE = statement("remove_node", "delete from nodes where id = $1");

export async function removeNode(sql: Sql, id: number): Promise<void> {
  await sql.rows(REMOVE_NODE, [id]);
}

const REMOVE_ALL_NODES = statement("remove_all_nodes", "delete from nodes");

/** For a database that only this process can reach: every listed node is a predecessor. */
export async function removeAllNodes(sql: Sql): Promise<void> {
  await sql.rows(REMOVE_ALL_NODES);
}

const REMOVE_LOST_NODES = statement(
  "remove_lost_nodes",
  "delete from nodes where seen_at < now() - interval '1 hour'",
);

/** Nodes that died. */
export async function removeLostNodes(sql: Sql): Promise<void> {
  await sql.rows(REMOVE_LOST_NODES);
}

const LIST_NODES = statement(
  "list_nodes",
  `select n.name, n.role, n.version, n.started_at as "startedAt",
          (extract(epoch from clock_timestamp() - n.seen_at) * 1000)::float8 as "lagMs",
          case when n.role = 'api' then 'none' when w.id is null then 'lost'
               when w.expires_at < clock_timestamp() then 'expired' else 'held' end as lease,
          coalesce((select sum(s.slots) from queue_slots s where s.worker_id = w.id), 0)::float8 as slots,
          n.calls_in_flight as "callsInFlight", n.max_in_flight as "maxInFlight",
          n.clock_offset_ms as "clockOffsetMs", n.loop_lag_ms as "loopLagMs"
     from nodes n left join workers w on w.id = n.worker_id
    order by n.started_at, n.id`,
);

/** All nodes, in the order of their start. */
export async function listNodes(sql: Sql): Promise<NodeStatus[]> {
  return sql.rows<NodeStatus>(LIST_NODES);
}
