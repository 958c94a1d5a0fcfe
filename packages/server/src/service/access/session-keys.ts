import { createHash, randomBytes } from "node:crypto";
import {
  insertSessionKey,
  isNewestKeyOlderThan,
  listSessionKeys,
  lockSessionKeys,
  removeReplacedSessionKeys,
} from "../../store/identity/session-keys.ts";
import type { Database, Sql } from "../../store/sql.ts";

/** Another node may have created a key: this node must know it within this time. */
const FRESH_MS = 60_000;
/** An unknown key id is usually garbage, which must not cost a database query each time. */
const LOOK_AGAIN_MS = 1_000;
const REPLACE_AFTER_DAYS = 30;
/** A token lives at most a day, and a node may sign with the older key while its cache is fresh. */
const KEEP_REPLACED_HOURS = 25;
const ROUND_MS = 10 * 60_000;

export interface SessionKey {
  /** The `kid` of the tokens that it signs. */
  readonly id: string;
  readonly secret: Uint8Array;
}

export interface SessionKeys {
  signing(): Promise<SessionKey>;
  find(id: string): Promise<SessionKey | null>;
}

/** The operator's own keys: the first signs. They are the same on every node, and change with a restart. */
export function createSetKeys(texts: readonly string[]): SessionKeys {
  const keys = texts.map((text) => ({ id: fingerprint(text), secret: Buffer.from(text) }));
  return {
    signing: async () => firstOf(keys),
    find: async (id) => keys.find((key) => key.id === id) ?? null,
  };
}

/** Identifies a key and reveals nothing else: it is in every token. */
function fingerprint(text: string): string {
  return createHash("sha256").update(`bellhop session key ${text}`).digest("hex").slice(0, 16);
}

/** Stored in the database, which all nodes share. The first is created on demand. */
export function createStoredKeys(deps: {
  readonly database: Database;
  readonly monotonicMs: () => number;
}): SessionKeys {
  const { database, monotonicMs } = deps;
  let known: { readonly untilMs: number; readonly keys: Promise<readonly SessionKey[]> } | null = null;
  let lookedAgainMs = Number.NEGATIVE_INFINITY;

  function read(): Promise<readonly SessionKey[]> {
    const keys = load(database);
    const entry = { untilMs: monotonicMs() + FRESH_MS, keys };
    known = entry;
    keys.catch(() => {
      if (known === entry) known = null;
    });
    return keys;
  }
  const current = () => (known !== null && monotonicMs() < known.untilMs ? known.keys : read());
  const pick = (keys: readonly SessionKey[], id: string) => keys.find((key) => key.id === id) ?? null;

  return {
    signing: async () => firstOf(await current()),
    async find(id) {
      const found = pick(await current(), id);
      if (found !== null) return found;
      // The second caller waits for the first one's lookup: both may hold a token of the same new key.
      if (monotonicMs() - lookedAgainMs < LOOK_AGAIN_MS) return pick(await current(), id);
      lookedAgainMs = monotonicMs();
      return pick(await read(), id);
    },
  };
}

async function load(database: Database): Promise<readonly SessionKey[]> {
  const found = await listSessionKeys(database);
  if (found.length > 0) return found;
  return database.transaction(async (sql) => {
    await lockSessionKeys(sql);
    if ((await listSessionKeys(sql)).length === 0) await rotateSessionKey(sql);
    return listSessionKeys(sql);
  });
}

/**
 * Creates a new key, which signs from now on: on every node within a minute. Older keys still verify their tokens, so
 * no session ends. Returns its id.
 */
export async function rotateSessionKey(sql: Sql): Promise<string> {
  const id = randomBytes(8).toString("hex");
  await insertSessionKey(sql, { id, secret: randomBytes(32) });
  return id;
}

/** For an actor: replaces an old signing key, and removes keys that no token can need. */
export async function turnSessionKeys(database: Database): Promise<number> {
  await database.transaction(async (sql) => {
    await lockSessionKeys(sql);
    if (await isNewestKeyOlderThan(sql, REPLACE_AFTER_DAYS)) await rotateSessionKey(sql);
  });
  await removeReplacedSessionKeys(database, KEEP_REPLACED_HOURS);
  return ROUND_MS;
}

function firstOf(keys: readonly SessionKey[]): SessionKey {
  const [key] = keys;
  if (key === undefined) throw new Error("There is no key to sign tokens with");
  return key;
}
