import type { Sql } from "../store/sql.ts";
import { pageOfCallbacks, resealCallback, type SealedCallback } from "../store/vault/sealed-callbacks.ts";
import { pageOfChannels, resealChannel, type SealedChannel } from "../store/vault/sealed-channels.ts";
import {
  findSecretsUnlike,
  replaceSecret,
  type SecretPlace,
  type SecretToSeal,
} from "../store/vault/signing-secrets.ts";
import { SealError, seal, sealingKeyOf, unseal } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";
import { openSecret, sealedPrefix, sealSecret } from "./signing-seal.ts";

export interface RotationStep {
  readonly resealed: number;
  /** Tampered with, or encrypted with another key of the same id. They are left unchanged. */
  readonly unreadable: number;
  /** Whether the whole scan is complete. */
  readonly done: boolean;
}

type Walk = () => Promise<RotationStep>;

interface WalkDeps {
  readonly sql: Sql;
  readonly keyRing: KeyRing;
}

/** Encrypts signing secrets: those of an older key, and unencrypted ones from before the vault. */
export function createSigningWalk({ sql, keyRing }: WalkDeps, batch: number): Walk {
  let place: SecretPlace | null = null;

  const sealAgain = ({ teamId, id, secret }: SecretToSeal) =>
    whole(() => sealSecret(keyRing, teamId, id, openSecret(keyRing, teamId, id, secret)));

  return async () => {
    const found = await findSecretsUnlike(sql, sealedPrefix(keyRing), place, batch);
    let resealed = 0;
    let unreadable = 0;
    for (const each of found) {
      const sealed = sealAgain(each);
      if (sealed === null) unreadable += 1;
      else if (await replaceSecret(sql, each, sealed)) resealed += 1;
    }
    const done = found.length < batch;
    place = done ? null : (found.at(-1) ?? null);
    return { resealed, unreadable, done };
  };
}

/** Re-encrypts the callback ids that tasks still need. Those kept with idempotency keys are gone in a day. */
export function createCallbackWalk(
  { sql, keyRing }: WalkDeps,
  older: readonly string[],
  batch: number,
): Walk {
  let place: Buffer | null = null;

  const sealAgain = ({ teamId, taskId: id }: SealedCallback, sealed: Buffer) => {
    const context = { purpose: "callback", teamId, id } as const;
    return whole(() => seal(keyRing.sealing, context, unseal(keyRing, context, sealed)));
  };

  return async () => {
    if (older.length === 0) return { resealed: 0, unreadable: 0, done: true };
    const found = await pageOfCallbacks(sql, place, batch);
    let resealed = 0;
    let unreadable = 0;
    for (const each of found) {
      if (
        each.sealed === null ||
        whole(() => sealingKeyOf(each.sealed ?? Buffer.alloc(0))) === keyRing.sealing.id
      )
        continue;
      const sealed = sealAgain(each, each.sealed);
      if (sealed === null) unreadable += 1;
      else if (await resealCallback(sql, each, sealed)) resealed += 1;
    }
    const done = found.length < batch;
    place = done ? null : (found.at(-1)?.hash ?? null);
    return { resealed, unreadable, done };
  };
}

/** Re-encrypts the secret URLs of alerts. */
export function createChannelWalk({ sql, keyRing }: WalkDeps, older: readonly string[], batch: number): Walk {
  let place: SealedChannel | null = null;

  const sealAgain = ({ teamId, id, sealed }: SealedChannel) => {
    const context = { purpose: "alert", teamId, id } as const;
    return whole(() => seal(keyRing.sealing, context, unseal(keyRing, context, sealed)));
  };

  return async () => {
    if (older.length === 0) return { resealed: 0, unreadable: 0, done: true };
    const found = await pageOfChannels(sql, place, batch);
    let resealed = 0;
    let unreadable = 0;
    for (const each of found) {
      if (whole(() => sealingKeyOf(each.sealed)) === keyRing.sealing.id) continue;
      const sealed = sealAgain(each);
      if (sealed === null) unreadable += 1;
      else if (await resealChannel(sql, each, sealed)) resealed += 1;
    }
    const done = found.length < batch;
    place = done ? null : (found.at(-1) ?? null);
    return { resealed, unreadable, done };
  };
}

/** Null if it cannot be decrypted: it is left unchanged. */
function whole<T>(make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}
