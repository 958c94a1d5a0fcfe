import {
  type ApiKey,
  type MintedApiKey,
  MOST_ACTIVE_KEYS,
  type RevokedApiKey,
} from "../../domain/identity/api-key.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { cutPage, type Page, type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId, readCursor } from "../../domain/public-id.ts";
import { countActiveKeys, insertApiKey, listApiKeys, revokeApiKey } from "../../store/identity/api-keys.ts";
import { lockTeam } from "../../store/identity/teams.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { type ChangeAuthor, recordChange } from "../audit/audit.ts";
import { newUuid } from "../new-uuid.ts";
import { requireCurrentRole } from "./current-role.ts";
import { hashSecret, newSecret } from "./secret-hash.ts";

export interface ApiKeyService {
  create(requester: Requester, name: string, environment: ApiKey["environment"]): Promise<MintedApiKey>;
  /** Active keys, newest first; the cursor is the id of a key. */
  list(principal: Principal, page?: PageRequest): Promise<Page<ApiKey>>;
  revoke(requester: Requester, keyId: string): Promise<RevokedApiKey>;
}

export function createApiKeyService({ database }: { readonly database: Database }): ApiKeyService {
  return {
    create: (requester, name, environment) =>
      database.transaction(async (sql) => {
        await requireCurrentRole(sql, requester, "admin");
        return mintApiKey(sql, requester, name, environment);
      }),
    async list({ teamId }, { limit, cursor } = WHOLE_LIST) {
      const page = { limit: limit + 1, cursor: readCursor("key", cursor) };
      return cutPage(await listTeamKeys(database, teamId, page), limit, ({ id }) => id);
    },
    revoke: (requester, keyId) => database.transaction((sql) => revokeTeamKey(sql, requester, keyId)),
  };
}

/** Enough to identify a key, far too little to guess the rest. */
const PREFIX_LENGTH = "bh_live_".length + 4;

/**
 * Creates a key for the author's team. Must run in a transaction: the team is locked until its end, so that two
 * concurrent requests cannot both take the last place.
 */
export async function mintApiKey(
  sql: Sql,
  author: ChangeAuthor,
  name: string,
  environment: ApiKey["environment"],
): Promise<MintedApiKey> {
  const { teamId } = author;
  await lockTeam(sql, teamId);
  if ((await countActiveKeys(sql, teamId)) >= MOST_ACTIVE_KEYS)
    throw new Problem("api_keys_full", { limit: String(MOST_ACTIVE_KEYS) });
  const key = newApiKey(environment);
  const stored = await storeApiKey(sql, teamId, name, key);
  if (stored === null) throw new Error("A new key was known already");
  const detail = { name, environment };
  await recordChange(sql, author, { action: "api_key.created", target: stored.id, detail });
  return { ...stored, key };
}

export function newApiKey(environment: ApiKey["environment"]): string {
  return `bh_${environment}_${newSecret()}`;
}

/** Without an audit event. Null if it is stored already. */
export async function storeApiKey(
  sql: Sql,
  teamId: number,
  name: string,
  key: string,
): Promise<Omit<MintedApiKey, "key"> | null> {
  const environment = key.startsWith("bh_test_") ? "test" : "live";
  const prefix = key.slice(0, PREFIX_LENGTH);
  const id = newUuid();
  const createdAt = await insertApiKey(sql, { id, teamId, name, environment, prefix, hash: hashSecret(key) });
  return createdAt === null ? null : { id: formatId("key", id), name, environment, prefix, createdAt };
}

/** The active keys of a team, newest first. */
export async function listTeamKeys(sql: Sql, teamId: number, page?: PageRequest): Promise<ApiKey[]> {
  return (await listApiKeys(sql, teamId, page)).map((key) => ({ ...key, id: formatId("key", key.id) }));
}

/** Refuses a key that the author's team does not have. Every node refuses the revoked key within a second. */
export async function revokeTeamKey(sql: Sql, author: ChangeAuthor, keyId: string): Promise<RevokedApiKey> {
  const id = parseId("key", keyId);
  const revoked = id === null ? null : await revokeApiKey(sql, author.teamId, id);
  if (revoked === null) throw new Problem("api_key_not_found");
  await recordChange(sql, author, {
    action: "api_key.revoked",
    target: keyId,
    detail: { name: revoked.name },
  });
  return { ...revoked, id: keyId };
}
