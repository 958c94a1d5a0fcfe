import type { DeletedApplication, OAuthApplication } from "../../domain/identity/oauth-application.ts";
import type { Plan } from "../../domain/identity/plan.ts";
import type { PageRequest } from "../../domain/page.ts";
import { type Sql, statement } from "../sql.ts";

/** With the id of its row; `clientId` is the public id. */
export interface StoredApplication extends Omit<OAuthApplication, "clientId"> {
  readonly id: string;
}

export interface NewApplication extends Omit<StoredApplication, "createdAt"> {
  readonly teamId: number;
  readonly secretHash: Buffer;
}

const COLUMNS = `a.id, a.name, a.redirect_uris as "redirectUris", a.scopes, a.grant_types as "grantTypes",
  a.created_at as "createdAt"`;

const INSERT_APPLICATION = statement(
  "insert_application",
  `insert into oauth_applications (id, team_id, name, secret_hash, redirect_uris, scopes, grant_types)
   values ($1, $2, $3, $4, $5, $6, $7) returning created_at as "createdAt"`,
);

export async function insertApplication(sql: Sql, application: NewApplication): Promise<Date> {
  const [row] = await sql.rows<{ createdAt: Date }>(INSERT_APPLICATION, [
    application.id,
    application.teamId,
    application.name,
    application.secretHash,
    application.redirectUris,
    application.scopes,
    application.grantTypes,
  ]);
  if (row === undefined) throw new Error("An application was not stored");
  return row.createdAt;
}

const COUNT_APPLICATIONS = statement(
  "count_applications",
  "select count(*)::integer as count from oauth_applications where team_id = $1",
);

/** Valid only while the team is locked: otherwise another application may be inserted. */
export async function countApplications(sql: Sql, teamId: number): Promise<number> {
  const rows = await sql.rows<{ count: number }>(COUNT_APPLICATIONS, [teamId]);
  return rows[0]?.count ?? 0;
}

const LIST_APPLICATIONS = statement(
  "list_applications",
  `select ${COLUMNS} from oauth_applications a
    where a.team_id = $1 and ($2::uuid is null or a.id < $2) order by a.id desc limit $3`,
);

/** Newest first. */
export async function listApplications(
  sql: Sql,
  teamId: number,
  { limit, cursor }: PageRequest,
): Promise<StoredApplication[]> {
  return sql.rows<StoredApplication>(LIST_APPLICATIONS, [teamId, cursor, limit]);
}

const DELETE_APPLICATION = statement(
  "delete_application",
  'delete from oauth_applications where team_id = $1 and id = $2 returning name, now() as "deletedAt"',
);

/** Also deletes its codes and tokens. Null if the team has no application with this id. */
export async function deleteApplication(
  sql: Sql,
  teamId: number,
  id: string,
): Promise<Omit<DeletedApplication, "clientId"> | null> {
  const [row] = await sql.rows<Omit<DeletedApplication, "clientId">>(DELETE_APPLICATION, [teamId, id]);
  return row ?? null;
}

const REPLACE_CLIENT_SECRET = statement(
  "replace_client_secret",
  `update oauth_applications a set secret_hash = $3 where a.team_id = $1 and a.id = $2 returning ${COLUMNS}`,
);

/** The old secret is refused from then on; issued tokens stay valid. */
export async function replaceSecret(
  sql: Sql,
  teamId: number,
  id: string,
  secretHash: Buffer,
): Promise<StoredApplication | null> {
  const [row] = await sql.rows<StoredApplication>(REPLACE_CLIENT_SECRET, [teamId, id, secretHash]);
  return row ?? null;
}

/** An application with its secret hash and its team, for the OAuth flows. */
export interface ClientApplication extends StoredApplication {
  readonly secretHash: Buffer;
  readonly teamId: number;
  readonly teamName: string;
  readonly plan: Plan;
  readonly customPerMinute: number | null;
}

const FIND_CLIENT = statement(
  "find_client",
  `select ${COLUMNS}, a.secret_hash as "secretHash", a.team_id as "teamId", t.name as "teamName", t.plan,
          t.requests_per_minute as "customPerMinute"
     from oauth_applications a join teams t on t.id = a.team_id where a.id = $1`,
);

/** By id only: an application identifies itself before its team is known. */
export async function findClient(sql: Sql, id: string): Promise<ClientApplication | null> {
  const [row] = await sql.rows<ClientApplication>(FIND_CLIENT, [id]);
  return row ?? null;
}

const HOLD_APPLICATION = statement(
  "hold_application",
  "select 1 from oauth_applications where id = $1 for key share",
);

/**
 * Whether the application still exists. It cannot be deleted until the transaction ends, so its deletion also deletes a
 * token that is issued now.
 */
export async function holdApplication(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.rows(HOLD_APPLICATION, [id]);
  return rows.length === 1;
}
