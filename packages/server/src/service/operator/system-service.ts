import type { Principal } from "../../domain/identity/principal.ts";
import type { NodeStatus } from "../../domain/node-status.ts";
import { Problem } from "../../domain/problem.ts";
import { readDatabaseBytes } from "../../store/disk-usage.ts";
import { firstTeam } from "../../store/identity/teams.ts";
import { schemaVersion } from "../../store/migrate.ts";
import { listNodes } from "../../store/nodes.ts";
import { type Sql, statement } from "../../store/sql.ts";
import type { EventDelay, EventDelayReader } from "../tasks/event-delay.ts";

export interface SystemState {
  readonly nodes: readonly NodeStatus[];
  readonly database: {
    readonly version: string;
    readonly schema: number;
    readonly embedded: boolean;
    readonly sizeBytes: number;
    /** Those to this database, of all nodes and others, and how many the server allows over all databases. */
    readonly connections: number;
    readonly maxConnections: number;
    /** Null: neither its disk nor a limit is known. */
    readonly disk: { readonly freeBytes: number; readonly usedPercent: number } | null;
  };
  readonly eventDelay: EventDelay | null;
}

export interface SystemService {
  /** For the operator's own team; for others it does not exist. */
  read(principal: Principal): Promise<SystemState>;
  /** Whether the caller belongs to the operator's team. */
  isOperator(principal: Principal): Promise<boolean>;
}

const READ_DATABASE_SERVER = statement(
  "read_database_server",
  `select current_setting('server_version') as version, current_setting('max_connections')::integer as "maxConnections",
          (select count(*)::integer from pg_stat_activity where datname = current_database()) as connections`,
);

interface DatabaseServer {
  readonly version: string;
  readonly connections: number;
  readonly maxConnections: number;
}

export function createSystemService({
  sql,
  embedded,
  disk,
  eventDelay,
}: {
  readonly sql: Sql;
  readonly embedded: boolean;
  readonly disk: {
    readonly freeBytes: () => Promise<number>;
    readonly usedPercent: () => Promise<number>;
  } | null;
  readonly eventDelay: EventDelayReader;
}): SystemService {
  const isOperator = async ({ teamId }: Principal) => teamId === (await firstTeam(sql));
  return {
    isOperator,
    async read(principal) {
      if (!(await isOperator(principal))) throw new Problem("not_found");
      const [nodes, schema, sizeBytes, freeBytes, usedPercent, delay, [server]] = await Promise.all([
        listNodes(sql),
        schemaVersion(sql),
        readDatabaseBytes(sql),
        disk?.freeBytes() ?? 0,
        disk?.usedPercent() ?? 0,
        eventDelay.read(),
        sql.rows<DatabaseServer>(READ_DATABASE_SERVER),
      ]);
      const { version = "", connections = 0, maxConnections = 0 } = server ?? {};
      const space = disk === null ? null : { freeBytes, usedPercent };
      return {
        nodes,
        database: { version, schema, embedded, sizeBytes, connections, maxConnections, disk: space },
        eventDelay: delay,
      };
    },
  };
}
