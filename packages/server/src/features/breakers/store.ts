import { type Sql, statement } from "../../store/sql.ts";

/** An open breaker. */
export interface Breaker {
  readonly queue: string;
  readonly host: string;
  /** `probing`: its time is over; one task is called, or will be when there is one. */
  readonly state: "open" | "probing";
  /** Failed attempts that opened it. */
  readonly failures: number;
  readonly openedAt: Date;
  readonly until: Date;
}

const LIST_BREAKERS = statement(
  "list_breakers",
  `select q.name as queue, b.host, case when b.cools then 'open' else 'probing' end as state, b.failures,
          b.opened_at as "openedAt", b.until
     from (select *, until > now() as cools from breakers) b
     join queues q on q.team_id = b.team_id and q.id = b.queue_id and q.deleted_at is null
    where b.team_id = $1 and b.phase = 'open' and ($2::text is null or (q.name collate "C", b.host) > ($2, $3))
    order by q.name collate "C", b.host limit $4`,
  { patience: "list" },
);

/** By queue and host, after the given ones. */
export async function listBreakers(
  sql: Sql,
  teamId: number,
  after: { readonly queue: string; readonly host: string } | null,
  limit: number,
): Promise<Breaker[]> {
  return sql.rows<Breaker>(LIST_BREAKERS, [teamId, after?.queue ?? null, after?.host ?? null, limit]);
}

const OPEN_QUEUES = statement(
  "queues_with_open_breakers",
  `select q.id::float8 as "queueId", q.name as queue from breakers b
     join queues q on q.team_id = b.team_id and q.id = b.queue_id and q.deleted_at is null
    where b.team_id = $1 and b.host = $2 and b.phase = 'open' and ($3::text is null or q.name = $3)
    order by q.id`,
);

/** The queues whose breaker is open for the host. */
export async function queuesWithOpenBreakers(
  sql: Sql,
  teamId: number,
  host: string,
  queue: string | null,
): Promise<{ readonly queueId: number; readonly queue: string }[]> {
  return sql.rows(OPEN_QUEUES, [teamId, host, queue]);
}

const COUNT_OPEN = statement(
  "count_open_breakers",
  `select count(*)::integer as open from breakers b
     join queues q on q.team_id = b.team_id and q.id = b.queue_id and q.deleted_at is null
    where b.team_id = $1 and b.phase = 'open' and ($2::text is null or q.name = $2)`,
);

/** For alerts. */
export async function countOpenBreakers(sql: Sql, teamId: number, queue: string | null): Promise<number> {
  const [row] = await sql.rows<{ open: number }>(COUNT_OPEN, [teamId, queue]);
  return row?.open ?? 0;
}

const FORGET_COUNTS = statement(
  "forget_breaker_counts",
  `delete from breaker_counts c using (
     select team_id, queue_id, host, at from breaker_counts where at < now() - interval '2 hours' order by at
      limit $1 for update skip locked) old
    where c.team_id = old.team_id and c.queue_id = old.queue_id and c.host = old.host and c.at = old.at
   returning 1`,
  { patience: "chore" },
);

/** Counts of hosts that are no longer called. Resolves with whether there may be more. */
export async function forgetCounts(sql: Sql, batch: number): Promise<boolean> {
  return (await sql.rows(FORGET_COUNTS, [batch])).length === batch;
}
