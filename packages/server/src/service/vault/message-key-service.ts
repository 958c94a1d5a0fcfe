import { randomBytes, randomUUID } from "node:crypto";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import type { Database, Sql } from "../../store/sql.ts";
import {
  advanceMessageSigningKeys,
  insertMessageSigningKey,
  lockKeysOfTeam,
  type MessageSigningKey,
  messageSigningKeys,
} from "../../store/vault/message-signing-keys.ts";
import { SealError } from "../../vault/cipher.ts";
import type { Vault } from "../../vault/vault.ts";
import { recordChange } from "../audit/audit.ts";

/** A rotation reaches every node within this time; until then a call needs no database query. */
const FRESH_MS = 5_000;
const MAX_REMEMBERED = 10_000;

/** Calls are signed with the current key. A receiver knows both, so a rotation needs no pause. */
export interface MessageKeys {
  readonly current: string;
  readonly next: string;
}

export interface MessageKeyService {
  get(principal: Principal): Promise<MessageKeys>;
  /** The next key becomes the current one. */
  rotate(requester: Requester): Promise<MessageKeys>;
  keysFor(teamId: number): MessageKeys | Promise<MessageKeys>;
}

export function createMessageKeyService(deps: {
  readonly database: Database;
  readonly vault: Pick<Vault, "sealSigningSecret" | "openSigningSecret">;
  readonly monotonicMs: () => number;
}): MessageKeyService {
  const { database, vault } = deps;
  const remembered = new Map<number, { readonly untilMs: number; readonly keys: MessageKeys }>();
  const lookups = new Map<number, Promise<MessageKeys>>();

  /** A team's keys are created on first use; of two concurrent uses, one creates each. */
  async function load(sql: Sql, teamId: number): Promise<MessageKeys> {
    const found = await messageSigningKeys(sql, teamId);
    for (const place of ["current", "next"] as const) {
      if (found.some((key) => key.place === place)) continue;
      const id = randomUUID();
      const secret = vault.sealSigningSecret(teamId, id, newKey());
      await insertMessageSigningKey(sql, teamId, { id, place, secret });
    }
    const [current, next] = found.length === 2 ? found : await messageSigningKeys(sql, teamId);
    if (current === undefined || next === undefined) throw new Error("A team has no keys for messages");
    return { current: open(teamId, current), next: open(teamId, next) };
  }

  function open(teamId: number, { id, secret }: MessageSigningKey): string {
    try {
      return vault.openSigningSecret(teamId, id, secret);
    } catch (error) {
      // Encrypted with a key that this server does not have.
      if (error instanceof SealError) throw new Problem("vault_off");
      throw error;
    }
  }

  function refresh(teamId: number): Promise<MessageKeys> {
    const untilMs = deps.monotonicMs() + FRESH_MS;
    const lookup = load(database, teamId);
    lookups.set(teamId, lookup);
    // A rotation on this node removes the lookup, because it may have read the old keys.
    const isCurrent = () => lookups.get(teamId) === lookup && lookups.delete(teamId);
    lookup.then((keys) => {
      if (!isCurrent()) return;
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(teamId, { untilMs, keys });
    }, isCurrent);
    return lookup;
  }

  return {
    get: ({ teamId }) => load(database, teamId),
    async rotate(requester) {
      const { teamId } = requester;
      const keys = await database.transaction(async (sql) => {
        await lockKeysOfTeam(sql, teamId);
        await load(sql, teamId);
        await advanceMessageSigningKeys(sql, teamId);
        const rotated = await load(sql, teamId);
        await recordChange(sql, requester, { action: "message_keys.rotated", target: "message-keys" });
        return rotated;
      });
      remembered.delete(teamId);
      lookups.delete(teamId);
      return keys;
    },
    keysFor(teamId) {
      const known = remembered.get(teamId);
      if (known !== undefined && deps.monotonicMs() < known.untilMs) return known.keys;
      return lookups.get(teamId) ?? refresh(teamId);
    },
  };
}

function newKey(): string {
  return `sig_${randomBytes(24).toString("base64url")}`;
}
