import {
  type DeletedApplication,
  type MintedApplication,
  MOST_APPLICATIONS,
  type OAuthApplication,
} from "../domain/oauth-application.ts";
import { type Actor, type Principal, requireScope } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import type { Scope } from "../domain/scope.ts";
import {
  countApplications,
  deleteApplication,
  insertApplication,
  listApplications,
  replaceSecret,
  type StoredApplication,
} from "../store/oauth-applications.ts";
import type { Database } from "../store/sql.ts";
import { recordChange } from "./audit.ts";
import { formatId, newUuid, parseId } from "./public-id.ts";
import { hashSecret, newSecret } from "./secret-hash.ts";
import { requireStanding } from "./standing.ts";

export type ApplicationRequest = Omit<OAuthApplication, "clientId" | "createdAt">;

export interface OAuthApplicationService {
  create(actor: Actor, request: ApplicationRequest): Promise<MintedApplication>;
  /** Newest first. */
  list(principal: Principal): Promise<readonly OAuthApplication[]>;
  /** Everything that was issued to it is refused from then on. */
  remove(actor: Actor, clientId: string): Promise<DeletedApplication>;
  /** Replaces the secret, at once. */
  rotate(actor: Actor, clientId: string): Promise<MintedApplication>;
}

export function createOAuthApplicationService({
  database,
}: {
  readonly database: Database;
}): OAuthApplicationService {
  return {
    async create(actor, request) {
      requireScopes(actor, request.scopes);
      const { teamId } = actor;
      const id = newUuid();
      const clientSecret = newClientSecret();
      return database.transaction(async (sql) => {
        await requireStanding(sql, actor, "admin");
        if ((await countApplications(sql, teamId)) >= MOST_APPLICATIONS)
          throw new Problem("applications_full", { limit: String(MOST_APPLICATIONS) });
        const secretHash = hashSecret(clientSecret);
        const createdAt = await insertApplication(sql, { ...request, id, teamId, secretHash });
        const { name, scopes, grantTypes } = request;
        const clientId = formatId("app", id);
        const detail = { name, scopes, grantTypes };
        await recordChange(sql, actor, { action: "application.created", target: clientId, detail });
        return { ...request, clientId, createdAt, clientSecret };
      });
    },
    list: async ({ teamId }) => (await listApplications(database, teamId)).map(toApplication),
    async remove(actor, clientId) {
      const id = readId(clientId);
      return database.transaction(async (sql) => {
        const deleted = await deleteApplication(sql, actor.teamId, id);
        if (deleted === null) throw new Problem("application_not_found");
        const detail = { name: deleted.name };
        await recordChange(sql, actor, {
          action: "application.deleted",
          target: formatId("app", id),
          detail,
        });
        return { ...deleted, clientId: formatId("app", id) };
      });
    },
    async rotate(actor, clientId) {
      const id = readId(clientId);
      const clientSecret = newClientSecret();
      return database.transaction(async (sql) => {
        await requireStanding(sql, actor, "admin");
        const stored = await replaceSecret(sql, actor.teamId, id, hashSecret(clientSecret));
        if (stored === null) throw new Problem("application_not_found");
        requireScopes(actor, stored.scopes);
        const application = toApplication(stored);
        await recordChange(sql, actor, {
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
 * Whoever has an application's secret can have its scopes. So an application gets hold of no other that may do more
 * than itself; keys and sessions may do everything already.
 */
function requireScopes(actor: Actor, scopes: readonly Scope[]): void {
  for (const scope of scopes) requireScope(actor, scope);
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
