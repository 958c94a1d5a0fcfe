import { randomBytes, randomUUID } from "node:crypto";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import type { Database, Sql } from "../../store/sql.ts";
import {
  insertFirstSecret,
  retireCurrentSecret,
  type SigningSecret,
  signingSecrets,
} from "../../store/vault/signing-secrets.ts";
import { recordChange } from "../audit/audit.ts";

/** Both secrets sign for so long after a rotation. */
const OVERLAP_HOURS = 24;
/** A rotation reaches every node within this time; until then a call costs no look into the database. */
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
  /** The secrets that sign a call of this team now, the current one first. */
  secretsFor(teamId: number): readonly string[] | Promise<readonly string[]>;
}

export function createSigningSecretService(deps: {
  readonly database: Database;
  readonly monotonicMs: () => number;
}): SigningSecretService {
  const { database } = deps;
  const remembered = new Map<number, { untilMs: number; secrets: readonly string[] }>();

  /** A team's secret is made when it is first needed; of two that need it at once, one makes it. */
  async function load(sql: Sql, teamId: number): Promise<SigningSecret[]> {
    const found = await signingSecrets(sql, teamId);
    if (found[0]?.validUntil === null) return found;
    await insertFirstSecret(sql, teamId, randomUUID(), newSecret());
    return signingSecrets(sql, teamId);
  }

  async function refresh(teamId: number): Promise<readonly string[]> {
    const secrets = (await load(database, teamId)).map(({ secret }) => secret);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(teamId, { untilMs: deps.monotonicMs() + FRESH_MS, secrets });
    return secrets;
  }

  return {
    get: async ({ teamId }) => toView(await load(database, teamId)),
    async rotate(requester) {
      const { teamId } = requester;
      const secrets = await database.transaction(async (sql) => {
        await retireCurrentSecret(sql, teamId, OVERLAP_HOURS);
        const rotated = await load(sql, teamId);
        await recordChange(sql, requester, { action: "signing_secret.rotated", target: "signing-secret" });
        return rotated;
      });
      remembered.delete(teamId);
      return toView(secrets);
    },
    secretsFor(teamId) {
      const known = remembered.get(teamId);
      return known !== undefined && deps.monotonicMs() < known.untilMs ? known.secrets : refresh(teamId);
    },
  };
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

function toView([current, previous]: readonly SigningSecret[]): SigningSecretView {
  if (current === undefined) throw new Error("A team has no signing secret");
  return {
    secret: current.secret,
    createdAt: current.createdAt,
    previousValidUntil: previous?.validUntil ?? null,
  };
}
