import type { Scope } from "../../domain/identity/scope.ts";
import { offsetOf, type PageRequest } from "../../domain/page.ts";
import { type Sql, statement } from "../sql.ts";

/** An authorization with at least one valid token. */
export interface LiveAuthorization {
  readonly id: string;
  readonly codeHash: Buffer;
  readonly applicationId: string;
  readonly applicationName: string;
  /** The team that the application is of. */
  readonly ownerName: string;
  readonly userId: string;
  readonly email: string;
  /** In no order, and some more than once. */
  readonly scopes: readonly Scope[];
  readonly consentedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Each authorization by its last token, the only one that was not refreshed: it outlives the others and has all granted
 * scopes. Earlier tokens matter until they expire after an hour.
 */
const LIVE = `
  select k.consent_id as id, k.code_hash as "codeHash", k.application_id as "applicationId",
         a.name as "applicationName", o.name as "ownerName", k.user_id as "userId", u.email,
         k.consented_at as "consentedAt", greatest(k.access_expires_at, k.refresh_expires_at) as "expiresAt",
         coalesce(k.granted_scopes, k.scopes) || array(select unnest(e.scopes) from oauth_tokens e
                            where e.code_hash = k.code_hash and e.access_expires_at > now()) as scopes
    from oauth_tokens k
    join oauth_applications a on a.id = k.application_id
    join teams o on o.id = a.team_id
    join users u on u.id = k.user_id
   where k.team_id = $1 and k.consent_id is not null and k.refreshed_at is null and k.revoked_at is null
     and greatest(k.access_expires_at, k.refresh_expires_at) > now()`;

const LIST_AUTHORIZATIONS = statement(
  "list_authorizations",
  `${LIVE} and ($2::uuid is null or k.user_id = $2) order by k.consented_at desc, k.consent_id desc limit $3 offset $4`,
);

/** The authorizations of one person, or of all members with null. Newest first; one more than the page has. */
export async function listAuthorizations(
  sql: Sql,
  teamId: number,
  userId: string | null,
  page: PageRequest,
): Promise<LiveAuthorization[]> {
  return sql.rows<LiveAuthorization>(LIST_AUTHORIZATIONS, [teamId, userId, page.limit + 1, offsetOf(page)]);
}

const FIND_AUTHORIZATION = statement("find_authorization", `${LIVE} and k.consent_id = $2`);

export async function findAuthorization(
  sql: Sql,
  teamId: number,
  id: string,
): Promise<LiveAuthorization | null> {
  const [row] = await sql.rows<LiveAuthorization>(FIND_AUTHORIZATION, [teamId, id]);
  return row ?? null;
}
