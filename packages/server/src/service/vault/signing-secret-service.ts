import { randomBytes, randomUUID } from "node:crypto";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import type { Database, Sql } from "../../store/sql.ts";
import {
  insertFirstSecret,
  retireCurrentSecret,
  type SigningSecret,
  signingSecrets,
} from "../../store/vault/signing-secrets.ts";
import { SealError } from "../../vault/cipher.ts";
import type { Vault } from "../../vault/vault.ts";
import { recordChange } from "../audit/audit.ts";

/** Both secrets sign for this long after a rotation. */
const OVERLAP_HOURS = 24;
/** A rotation reaches every node within this time; until then a call needs no database query. */
const FRESH_MS = 5_000;
const MAX_REMEMBERED = 10_000;

export interface SigningSecretView {
  readonly secret: string;
  readonly createdAt: Date;
  readonly previousValidUntil: Date | null;
}

export interface SigningSecretService {
  get(principal: Principal): Promise<SigningSecretView>;
  rotate(requester: Requester): Promise<SigningSecretView>;
  /** The secrets that sign a call of this team, the current one first. */
  secretsFor(teamId: number): readonly string[] | Promise<readonly string[]>;
}

export function createSigningSecretService(deps: {
  readonly database: Database;
  readonly vault: Pick<Vault, "sealSigningSecret" | "openSigningSecret">;
  readonly monotonicMs: () => number;
}): SigningSecretService {
  const { database, vault } = deps;
  const remembered = new Map<number, { untilMs: number; secrets: readonly string[] }>();
  /** Running lookups: every call that needs the secrets meanwhile waits for the same one. */
  const lookups = new Map<number, Promise<readonly string[]>>();

  /** A team's secret is created on first use; of two concurrent uses, one creates it. */
  async function load(sql: Sql, teamId: number): Promise<SigningSecret[]> {
    const found = await signingSecrets(sql, teamId);
    if (found[0]?.validUntil === null) return found;
    const id = randomUUID();
    await insertFirstSecret(sql, teamId, id, vault.sealSigningSecret(teamId, id, newSecret()));
    return signingSecrets(sql, teamId);
  }

  function open(teamId: number, { id, secret }: SigningSecret): string {
    return vault.openSigningSecret(teamId, id, secret);
  }

  function tryOpen(teamId: number, secret: SigningSecret): string[] {
    try {
      return [open(teamId, secret)];
    } catch (error) {
      if (error instanceof SealError || error instanceof Problem) return [];
      throw error;
    }
  }

  function toView(teamId: number, [current, previous]: readonly SigningSecret[]): SigningSecretView {
    if (current === undefined) throw new Error("A team has no signing secret");
    const [secret] = tryOpen(teamId, current);
    // Encrypted with a key that this server does not have.
    if (secret === undefined) throw new Problem("vault_off");
    return { secret, createdAt: current.createdAt, previousValidUntil: previous?.validUntil ?? null };
  }

  async function lookUp(teamId: number): Promise<readonly string[]> {
    const [current, ...previous] = await load(database, teamId);
    if (current === undefined) throw new Error("A team has no signing secret");
    // The current secret is required; an outgoing one that cannot be decrypted is skipped.
    return [open(teamId, current), ...previous.flatMap((secret) => tryOpen(teamId, secret))];
  }

  function refresh(teamId: number): Promise<readonly string[]> {
    const untilMs = deps.monotonicMs() + FRESH_MS;
    const lookup = lookUp(teamId);
    lookups.set(teamId, lookup);
    // A rotation on this node removes the lookup, because it may have read the old secret.
    const isCurrent = () => lookups.get(teamId) === lookup && lookups.delete(teamId);
    lookup.then((secrets) => {
      if (!isCurrent()) return;
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(teamId, { untilMs, secrets });
    }, isCurrent);
    return lookup;
  }

  return {
    get: async ({ teamId }) => toView(teamId, await load(database, teamId)),
    async rotate(requester) {
      const { teamId } = requester;
      const secrets = await database.transaction(async (sql) => {
        await retireCurrentSecret(sql, teamId, OVERLAP_HOURS);
        const rotated = await load(sql, teamId);
        await recordChange(sql, requester, { action: "signing_secret.rotated", target: "signing-secret" });
        return rotated;
      });
      remembered.delete(teamId);
      lookups.delete(teamId);
      return toView(teamId, secrets);
    },
    secretsFor(teamId) {
      const known = remembered.get(teamId);
      if (known !== undefined && deps.monotonicMs() < known.untilMs) return known.secrets;
      return lookups.get(teamId) ?? refresh(teamId);
    },
  };
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}
