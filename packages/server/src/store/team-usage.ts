import type { LimitName } from "../domain/limits.ts";
import type { Reach } from "../domain/reach.ts";
import { type Sql, statement } from "./sql.ts";

/** A team's use of the limits that its plan counts. */
export type TeamUsage = Readonly<
  Record<
    Extract<
      LimitName,
      "callsInFlight" | "tasksOpen" | "queues" | "vaultTokens" | "applications" | "schedules" | "webhooks"
    >,
    number
  >
>;

const READ_TEAM_USAGE = statement(
  "read_team_usage",
  `select coalesce(sum(active), 0)::float8 as "callsInFlight",
          coalesce(sum(pending + active + waiting + polling), 0)::float8 as "tasksOpen",
          (select count(*)::float8 from queues where team_id = $1 and deleted_at is null) as queues,
          (select count(*)::float8 from vault_tokens
            where team_id = $1 and sandbox = $2 and revoked_at is null) as "vaultTokens",
          (select count(*)::float8 from oauth_applications where team_id = $1) as applications,
          (select count(*)::float8 from schedules where team_id = $1) as schedules,
          (select count(*)::float8 from webhooks where team_id = $1) as webhooks
     from queue_tallies where team_id = $1`,
  { prepared: true },
);

const NOTHING: TeamUsage = {
  callsInFlight: 0,
  tasksOpen: 0,
  queues: 0,
  vaultTokens: 0,
  applications: 0,
  schedules: 0,
  webhooks: 0,
};

/**
 * From tallies and small tables; no tasks are scanned. Vault tokens are counted per environment: test keys' tokens take
 * no room from live ones.
 */
export async function readTeamUsage(sql: Sql, { teamId, environment }: Reach): Promise<TeamUsage> {
  const [row] = await sql.rows<TeamUsage>(READ_TEAM_USAGE, [teamId, environment === "test"]);
  return row ?? NOTHING;
}

const HOLD_TEAM_USAGE = statement("hold_team_usage", "select 1 from teams where id = $1 for no key update");

/**
 * The same before an insert: other transactions that ask wait until this one ends, so that of two that find room for
 * one only one inserts.
 */
export async function holdTeamUsage(sql: Sql, reach: Reach): Promise<TeamUsage> {
  await sql.rows(HOLD_TEAM_USAGE, [reach.teamId]);
  return readTeamUsage(sql, reach);
}
