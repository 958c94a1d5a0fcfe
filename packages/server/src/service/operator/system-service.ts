import type { Principal } from "../../domain/identity/principal.ts";
import type { NodeStatus } from "../../domain/node-status.ts";
import { Problem } from "../../domain/problem.ts";
import { firstTeam } from "../../store/identity/teams.ts";
import { schemaVersion } from "../../store/migrate.ts";
import { listNodes } from "../../store/nodes.ts";
import { type Sql, statement } from "../../store/sql.ts";

export interface SystemState {
  readonly nodes: readonly NodeStatus[];
  readonly database: {
    readonly version: string;
    readonly schema: number;
    readonly embedded: boolean;
  };
}

export interface SystemService {
  /** For the operator's own team; for others it does not exist. */
  read(principal: Principal): Promise<SystemState>;
  /** Whether the caller belongs to the operator's team. */
  isOperator(principal: Principal): Promise<boolean>;
}

const SERVER_VERSION = statement("server_version", "select current_setting('server_version') as version");

export function createSystemService({
  sql,
  embedded,
}: {
  readonly sql: Sql;
  readonly embedded: boolean;
}): SystemService {
  const isOperator = async ({ teamId }: Principal) => teamId === (await firstTeam(sql));
  return {
    isOperator,
    async read(principal) {
      if (!(await isOperator(principal))) throw new Problem("not_found");
      const [nodes, schema, [server]] = await Promise.all([
        listNodes(sql),
        schemaVersion(sql),
        sql.rows<{ version: string }>(SERVER_VERSION),
      ]);
      return { nodes, database: { version: server?.version ?? "", schema, embedded } };
    },
  };
}
