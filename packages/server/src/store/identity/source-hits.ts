import { type Sql, statement } from "../sql.ts";

export interface HitLimit {
  readonly most: number;
  /** How long a hit counts. */
  readonly seconds: number;
}

export interface TakenHits {
  /** The number of requested hits that fit and are counted. */
  readonly granted: number;
  /** The number of further hits that would fit. */
  readonly left: number;
  /** Milliseconds until one more fits; 0 if one fits now. */
  readonly waitMs: number;
  /** When the oldest counted hit expires: Unix time, by the database's clock. */
  readonly resetAtMs: number;
  /** The time of these hits, to the microsecond. */
  readonly stamp: string;
}

/** Earlier hits that get the time of this request. */
export interface Renewal {
  readonly stamp: string;
  readonly count: number;
}

const expiry = (at: string) =>
  `date_trunc('minute', ${at}) + interval '1 minute' + make_interval(secs => $4::float8)`;

/**
 * The race: two nodes take the last hit at once. The row is locked before `set` is evaluated, and `set` and its clock
 * see the row as it is then, even if another node changed it. A second read of the table in the same statement would
 * see the state before the lock, so every answer is read from the written row.
 *
 * The order of the hits and a monotonic clock do not matter: a hit from the future counts as one of now, so a clock
 * that was set back locks no source out for longer than the limit's window.
 */
const TAKE_HITS = statement(
  "take_hits",
  `insert into source_hits as s (source, hits, granted, looked_at, expires_at)
   select $1, array_fill(c.at, array[g.n]), g.n, c.at, ${expiry("c.at")}
     from (select clock_timestamp() as at) c, (select least($2::integer, $3::integer) as n) g
   on conflict (source) do update
      set (hits, granted, looked_at, expires_at) = (
        select kept.hits || array_fill(c.at, array[g.n - kept.renewed]), g.n, c.at, ${expiry("c.at")}
          from (select clock_timestamp() as at) c,
               lateral (
                 select coalesce(array_agg(h.at order by h.at), '{}') as hits, count(*)::integer as n,
                        count(*) filter (where h.renewed)::integer as renewed
                   from (select case when o.renewed then c.at else least(o.at, c.at) end as at, o.renewed
                           from (select u.at, u.at = $5::timestamptz and
                                        row_number() over (partition by u.at) <= $6::integer as renewed
                                   from unnest(s.hits) u(at)
                                  where u.at > c.at - make_interval(secs => $4::float8)) o) h
               ) kept,
               lateral (
                 select kept.renewed + greatest(0, least($2::integer - kept.renewed, $3::integer - kept.n)) as n
               ) g
      )
   returning granted, looked_at::text as stamp, greatest(0, $3::integer - cardinality(hits)) as "left",
     case when cardinality(hits) < $3::integer then 0
          else ceil(extract(epoch from hits[cardinality(hits) - $3::integer + 1]
                      + make_interval(secs => $4::float8) - looked_at) * 1000)
     end::float8 as "waitMs",
     (extract(epoch from coalesce(hits[1], looked_at) + make_interval(secs => $4::float8)) * 1000)::float8
       as "resetAtMs"`,
  { prepared: true },
);

/**
 * Counts as many of the requested hits of a source as fit into its limit. There is one row per source, locked by its
 * own update, so the count is exact over all nodes. Renewed hits are among the granted.
 */
export async function takeHits(
  sql: Sql,
  source: string,
  wanted: number,
  { most, seconds }: HitLimit,
  renewal: Renewal | null = null,
): Promise<TakenHits> {
  const values = [source, wanted, most, seconds, renewal?.stamp ?? null, renewal?.count ?? 0];
  const [taken] = await sql.rows<TakenHits>(TAKE_HITS, values);
  if (taken === undefined) throw new Error("An upsert returned no row");
  return taken;
}
