import {
  type DeletedApplication,
  type MintedApplication,
  MOST_APPLICATIONS,
  type OAuthApplication,
} from "../../domain/identity/oauth-application.ts";
import { type Principal, type Requester, requireScope } from "../../domain/identity/principal.ts";
import type { Scope } from "../../domain/identity/scope.ts";
import { requireRoom } from "../../domain/limits.ts";
import { cutPage, type Page, type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId, readCursor } from "../../domain/public-id.ts";
import {
  countApplications,
  deleteApplication,
  insertApplication,
  listApplications,
  replaceSecret,
  type StoredApplication,
} from "../../store/identity/oauth-applications.ts";
import type { Database } from "../../store/sql.ts";
import { requireCurrentRole } from "../access/current-role.ts";
import { hashSecret, newSecret } from "../access/secret-hash.ts";
import { recordChange } from "../audit/audit.ts";
import { newUuid } from "../new-uuid.ts";

export type ApplicationRequest = Omit<OAuthApplication, "clientId" | "createdAt">;

export interface OAuthApplicationService {
  create(requester: Requester, request: ApplicationRequest): Promise<MintedApplication>;
  /** Newest first; the cursor is the id of an application. */
  list(principal: Principal, page?: PageRequest): Promise<Page<OAuthApplication>>;
  /** All its tokens are refused from then on. */
  remove(requester: Requester, clientId: string): Promise<DeletedApplication>;
  /** Replaces the secret, at once. */
  rotate(requester: Requester, clientId: string): Promise<MintedApplication>;
}

export function createOAuthApplicationService({
  database,
}: {
  readonly database: Database;
}): OAuthApplicationService {
  return {
    async create(requester, request) {
      requireScopes(requester, request.scopes);
      const { teamId } = requester;
      const id = newUuid();
      const clientSecret = newClientSecret();
      return database.transaction(async (sql) => {
        await requireCurrentRole(sql, requester, "admin");
        const count = await countApplications(sql, teamId);
        requireRoom(requester, "applications", count);
        if (count >= MOST_APPLICATIONS)
          throw new Problem("applications_full", { limit: String(MOST_APPLICATIONS) });
        const secretHash = hashSecret(clientSecret);
        const createdAt = await insertApplication(sql, { ...request, id, teamId, secretHash });
        const { name, scopes, grantTypes } = request;
        const clientId = formatId("app", id);
        const detail = { name, scopes, grantTypes };
        await recordChange(sql, requester, { action: "application.created", target: clientId, detail });
        return { ...request, clientId, createdAt, clientSecret };
      });
    },
    async list({ teamId }, { limit, cursor } = WHOLE_LIST) {
      const page = { limit: limit + 1, cursor: readCursor("app", cursor) };
      const found = (await listApplications(database, teamId, page)).map(toApplication);
      return cutPage(found, limit, ({ clientId }) => clientId);
    },
    async remove(requester, clientId) {
      const id = readId(clientId);
      return database.transaction(async (sql) => {
        const deleted = await deleteApplication(sql, requester.teamId, id);
        if (deleted === null) throw new Problem("application_not_found");
        const detail = { name: deleted.name };
        await recordChange(sql, requester, {
          action: "application.deleted",
          target: formatId("app", id),
          detail,
        });
        return { ...deleted, clientId: formatId("app", id) };
      });
    },
    async rotate(requester, clientId) {
      const id = readId(clientId);
      const clientSecret = newClientSecret();
      return database.transaction(async (sql) => {
        await requireCurrentRole(sql, requester, "admin");
        const stored = await replaceSecret(sql, requester.teamId, id, hashSecret(clientSecret));
        if (stored === null) throw new Problem("application_not_found");
        requireScopes(requester, stored.scopes);
        const application = toApplication(stored);
        await recordChange(sql, requester, {
          action: "application.secret_rotated",
          target: application.clientId,
          detail: { name: application.name },
        });
        return { ...application, clientSecret };
      });
    },
  };
}

/**
 * A caller with an application's secret has its scopes. So an application cannot get another one with more rights; keys
 * and sessions have all rights already.
 */
function requireScopes(requester: Requester, scopes: readonly Scope[]): void {
  for (const scope of scopes) requireScope(requester, scope);
}

function newClientSecret(): string {
  return `bhs_${newSecret()}`;
}

function readId(clientId: string): string {
  const id = parseId("app", clientId);
  if (id === null) throw new Problem("application_not_found");
  return id;
}

function toApplication({ id, ...application }: StoredApplication): OAuthApplication {
  return { clientId: formatId("app", id), ...application };
}
