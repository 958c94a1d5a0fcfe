import type { Reach } from "../../domain/reach.ts";
import type { TokenTasks } from "../../domain/vault-token.ts";
import { activeTasks } from "../claim-batches.ts";
import { inState, listOrder } from "../list-index.ts";
import { type Sql, statement } from "../sql.ts";

export interface TokenUse {
  readonly teamId: number;
  readonly id: string;
  readonly agoMs: number;
}

const WRITE_TOKEN_USES = statement(
  "write_token_uses",
  `with used as (
     select v.team_id, v.id, now() - u.ago_ms * interval '1 millisecond' as used_at
       from unnest($1::integer[], $2::uuid[], $3::float8[]) as u(team_id, id, ago_ms)
       join vault_tokens v on v.team_id = u.team_id and v.id = u.id
        for no key update of v skip locked
   )
   update vault_tokens v set last_used_at = greatest(v.last_used_at, used.used_at)
     from used where v.team_id = used.team_id and v.id = used.id
   returning v.id`,
);

/**
 * Records uses of tokens; the latest time wins over all nodes. Returns the recorded ids: a locked row is skipped, so
 * that no two nodes wait for each other.
 */
export async function writeTokenUses(sql: Sql, uses: readonly TokenUse[]): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(WRITE_TOKEN_USES, [
    uses.map(({ teamId }) => teamId),
    uses.map(({ id }) => id),
    uses.map(({ agoMs }) => agoMs),
  ]);
  return rows.map(({ id }) => id);
}

const COUNT_TOKEN_TASKS = statement(
  "count_token_tasks",
  `select count(*)::integer as seen, (count(*) filter (where x.named))::integer as named
     from (select jsonb_path_exists(t.headers, '$.* ? (@ == $id)', jsonb_build_object('id', $3::text)) as named
             from (
               select open.headers
                 from queues q
                cross join unnest(array['pending', 'active', 'waiting', 'polling']) as s(status)
                cross join lateral (
                  select t.headers from tasks t
                   where t.team_id = $1 and t.queue_id = q.id and t.sandbox = $2
                     and ${inState("s.status", "$2::boolean")}
                   order by ${listOrder("desc")} limit $4) open
                where q.team_id = $1
                union all
               (select distinct on (t.id) t.headers ${activeTasks("$1")} and not $2)) t
            limit $4) x`,
  { patience: "list" },
);

/**
 * The number of open tasks with a header that names the token, among a limited number scanned: the newest of each queue
 * and state.
 */
export async function countTokenTasks(
  sql: Sql,
  reach: Reach,
  tokenId: string,
  most: number,
): Promise<TokenTasks> {
  const [found] = await sql.rows<{ seen: number; named: number }>(COUNT_TOKEN_TASKS, [
    reach.teamId,
    reach.environment === "test",
    tokenId,
    most + 1,
  ]);
  const { seen, named } = found ?? { seen: 0, named: 0 };
  return { count: named, isCapped: seen > most };
}
