import { type GrantType, isGrantType } from "../../domain/identity/oauth-application.ts";
import type { Plan } from "../../domain/identity/plan.ts";
import { isScope, type Scope } from "../../domain/identity/scope.ts";
import type { Sql } from "../sql.ts";

export interface StoredApplication {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly Scope[];
  readonly grantTypes: readonly GrantType[];
  readonly createdAt: Date;
}

export interface NewApplication extends Omit<StoredApplication, "createdAt"> {
  readonly teamId: number;
  readonly secretHash: Buffer;
}

interface ApplicationRow {
  id: string;
  name: string;
  redirect_uris: string[];
  scopes: string[];
  grant_types: string[];
  created_at: Date;
}

const COLUMNS = "a.id, a.name, a.redirect_uris, a.scopes, a.grant_types, a.created_at";

export async function insertApplication(sql: Sql, application: NewApplication): Promise<Date> {
  const rows = await sql.rows<{ created_at: Date }>(
    `insert into oauth_applications (id, team_id, name, secret_hash, redirect_uris, scopes, grant_types)
     values ($1, $2, $3, $4, $5, $6, $7) returning created_at`,
    [
      application.id,
      application.teamId,
      application.name,
      application.secretHash,
      application.redirectUris,
      application.scopes,
      application.grantTypes,
    ],
  );
  return rows[0]?.created_at ?? new Date(0);
}

/** Counts only while the team is locked: otherwise another may be on its way in. */
export async function countApplications(sql: Sql, teamId: number): Promise<number> {
  const rows = await sql.rows<{ count: number }>(
    "select count(*)::integer as count from oauth_applications where team_id = $1",
    [teamId],
  );
  return rows[0]?.count ?? 0;
}

/** Newest first. */
export async function listApplications(sql: Sql, teamId: number): Promise<StoredApplication[]> {
  const rows = await sql.rows<ApplicationRow>(
    `select ${COLUMNS} from oauth_applications a where a.team_id = $1 order by a.id desc`,
    [teamId],
  );
  return rows.map(toApplication);
}

/** Its codes and tokens go with it. Null if the team has none of this id. */
export async function deleteApplication(
  sql: Sql,
  teamId: number,
  id: string,
): Promise<{ readonly name: string; readonly deletedAt: Date } | null> {
  const rows = await sql.rows<{ name: string; deleted_at: Date }>(
    "delete from oauth_applications where team_id = $1 and id = $2 returning name, now() as deleted_at",
    [teamId, id],
  );
  return rows[0] === undefined ? null : { name: rows[0].name, deletedAt: rows[0].deleted_at };
}

/** The secret before it is refused from then on; tokens that were issued to it stay. */
export async function replaceSecret(
  sql: Sql,
  teamId: number,
  id: string,
  secretHash: Buffer,
): Promise<StoredApplication | null> {
  const rows = await sql.rows<ApplicationRow>(
    `update oauth_applications a set secret_hash = $3 where a.team_id = $1 and a.id = $2 returning ${COLUMNS}`,
    [teamId, id, secretHash],
  );
  return rows[0] === undefined ? null : toApplication(rows[0]);
}

/** An application as the flows see it: with what it proves itself by, and whose it is. */
export interface ClientApplication extends StoredApplication {
  readonly secretHash: Buffer;
  readonly teamId: number;
  readonly teamName: string;
  readonly plan: Plan;
  readonly customPerMinute: number | null;
}

interface ClientRow extends ApplicationRow {
  secret_hash: Buffer;
  team_id: number;
  team_name: string;
  plan: Plan;
  requests_per_minute: number | null;
}

/** By its id alone: an application introduces itself before anybody knows of which team it is. */
export async function findClient(sql: Sql, id: string): Promise<ClientApplication | null> {
  const rows = await sql.rows<ClientRow>(
    `select ${COLUMNS}, a.secret_hash, a.team_id, t.name as team_name, t.plan, t.requests_per_minute
       from oauth_applications a join teams t on t.id = a.team_id where a.id = $1`,
    [id],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    ...toApplication(row),
    secretHash: row.secret_hash,
    teamId: row.team_id,
    teamName: row.team_name,
    plan: row.plan,
    customPerMinute: row.requests_per_minute,
  };
}

/**
 * Whether the application is still there. Until the transaction ends it cannot be deleted: what is issued to it now
 * goes when it goes.
 */
export async function holdApplication(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.rows("select 1 from oauth_applications where id = $1 for key share", [id]);
  return rows.length === 1;
}

function toApplication(row: ApplicationRow): StoredApplication {
  return {
    id: row.id,
    name: row.name,
    redirectUris: row.redirect_uris,
    scopes: row.scopes.filter(isScope),
    grantTypes: row.grant_types.filter(isGrantType),
    createdAt: row.created_at,
  };
}
