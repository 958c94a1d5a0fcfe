import { Problem } from "../../src/domain/problem.ts";
import { formatId } from "../../src/domain/public-id.ts";
import type { VaultToken } from "../../src/domain/vault-token.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import type { VaultService, VaultTokenRequest } from "../../src/service/vault/vault-service.ts";

export interface FakeVault extends VaultService {
  isOpen: boolean;
  /** What reached the service, for the test to look at. */
  readonly received: VaultTokenRequest[];
}

export function createFakeVault(now: Date): FakeVault {
  const tokens = new Map<string, VaultToken & { readonly teamId: number }>();
  const assertOpen = () => {
    if (!fake.isOpen) throw new Problem("vault_off");
  };
  const fake: FakeVault = {
    isOpen: true,
    received: [],
    async create({ teamId }, token) {
      assertOpen();
      fake.received.push(token);
      const id = formatId("tok", newUuid());
      const stored = { teamId, id, name: token.name, allowedHosts: token.allowedHosts, createdAt: now };
      tokens.set(id, stored);
      return stored;
    },
    async list({ teamId }) {
      assertOpen();
      return [...tokens.values()].filter((token) => token.teamId === teamId).reverse();
    },
    async revoke({ teamId }, tokenId) {
      assertOpen();
      const token = tokens.get(tokenId);
      if (token?.teamId !== teamId) throw new Problem("vault_token_not_found");
      tokens.delete(tokenId);
      return { id: tokenId, name: token.name, revokedAt: now };
    },
  };
  return fake;
}
