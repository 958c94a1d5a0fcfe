import type { ApiKey, MintedApiKey, RevokedApiKey } from "../../domain/identity/api-key.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import { type ListedKey, listApiKeys, revokeApiKey } from "../../store/identity/api-keys.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { recordChange } from "../audit/audit.ts";
import { mintApiKey } from "./api-key-creation.ts";
import { requireStanding } from "./standing.ts";

export interface ApiKeyService {
  create(requester: Requester, name: string, environment: ApiKey["environment"]): Promise<MintedApiKey>;
  /** The active ones, newest first. */
  list(principal: Principal): Promise<readonly ApiKey[]>;
  revoke(requester: Requester, keyId: string): Promise<RevokedApiKey>;
}

export function createApiKeyService({ database }: { readonly database: Database }): ApiKeyService {
  return {
    create: (requester, name, environment) =>
      database.transaction(async (sql) => {
        await requireStanding(sql, requester, "admin");
        const minted = await mintApiKey(sql, requester.teamId, name, environment);
        const detail = { name, environment };
        await recordChange(sql, requester, { action: "api_key.created", target: minted.id, detail });
        return minted;
      }),
    list: ({ teamId }) => listTeamKeys(database, teamId),
    revoke: (requester, keyId) =>
      database.transaction(async (sql) => {
        const revoked = await revokeTeamKey(sql, requester.teamId, keyId);
        const detail = { name: revoked.name };
        await recordChange(sql, requester, { action: "api_key.revoked", target: revoked.id, detail });
        return revoked;
      }),
  };
}

/** The active keys of a team, newest first. */
export async function listTeamKeys(sql: Sql, teamId: number): Promise<ApiKey[]> {
  return (await listApiKeys(sql, teamId)).map(toApiKey);
}

/** Refuses a key that the team does not have. Every node refuses the revoked one within a second. */
export async function revokeTeamKey(sql: Sql, teamId: number, keyId: string): Promise<RevokedApiKey> {
  const id = parseId("key", keyId);
  const revoked = id === null ? null : await revokeApiKey(sql, teamId, id);
  if (id === null || revoked === null) throw new Problem("api_key_not_found");
  return { id: formatId("key", id), name: revoked.name, revokedAt: revoked.revoked_at };
}

function toApiKey(row: ListedKey): ApiKey {
  return {
    id: formatId("key", row.id),
    name: row.name,
    environment: row.environment,
    prefix: row.prefix,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
