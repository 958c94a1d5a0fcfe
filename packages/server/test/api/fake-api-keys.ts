import type { ApiKey } from "../../src/domain/identity/api-key.ts";
import { Problem } from "../../src/domain/problem.ts";
import { formatId } from "../../src/domain/public-id.ts";
import type { ApiKeyService } from "../../src/service/access/api-key-service.ts";
import { newUuid } from "../../src/service/new-uuid.ts";

export interface FakeApiKeys extends ApiKeyService {
  /** How many more can be created. */
  room: number;
  /** As if the key had been used just now. */
  use(id: string): void;
}

export function createFakeApiKeys(now: Date): FakeApiKeys {
  const keys = new Map<string, ApiKey & { readonly teamId: number }>();
  const fake: FakeApiKeys = {
    room: 1_000_000,
    use(id) {
      const key = keys.get(id);
      if (key !== undefined) keys.set(id, { ...key, lastUsedAt: now });
    },
    async create({ teamId }, name, environment) {
      if (fake.room === 0) throw new Problem("api_keys_full", { limit: "100" });
      fake.room -= 1;
      const id = formatId("key", newUuid());
      const key = `bh_${environment}_${String(keys.size).padStart(64, "0")}`;
      const minted = { id, name, environment, prefix: key.slice(0, 12), createdAt: now };
      keys.set(id, { ...minted, teamId, lastUsedAt: null });
      return { ...minted, key };
    },
    async list({ teamId }) {
      return [...keys.values()].filter((key) => key.teamId === teamId).reverse();
    },
    async revoke({ teamId }, keyId) {
      const key = keys.get(keyId);
      if (key?.teamId !== teamId) throw new Problem("api_key_not_found");
      keys.delete(keyId);
      return { id: keyId, name: key.name, revokedAt: now };
    },
  };
  return fake;
}
