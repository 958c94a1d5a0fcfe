import type { Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import type { Secret } from "../domain/secret.ts";
import type { RevokedToken, VaultToken } from "../domain/vault-token.ts";
import type { Vault } from "../vault/vault.ts";

export interface NewToken {
  readonly name: string;
  readonly value: Secret;
  readonly allowedHosts: readonly string[] | null;
}

export interface VaultService {
  /** False: there is no key, and everything is refused. */
  readonly isOpen: boolean;
  create(principal: Principal, token: NewToken): Promise<VaultToken>;
  list(principal: Principal): Promise<readonly VaultToken[]>;
  revoke(principal: Principal, tokenId: string): Promise<RevokedToken>;
}

export function createVaultService({ vault }: { readonly vault: Vault }): VaultService {
  return {
    isOpen: vault.isOpen,
    create: ({ teamId }, { name, value, allowedHosts }) => vault.put(teamId, name, value, allowedHosts),
    list: ({ teamId }) => vault.list(teamId),
    async revoke({ teamId }, tokenId) {
      const revoked = await vault.revoke(teamId, tokenId);
      if (revoked === null) throw new Problem("vault_token_not_found");
      return revoked;
    },
  };
}
