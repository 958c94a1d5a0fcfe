// A new key is put in front of the old one; every token is then re-encrypted with it, and the old key can be removed.
// Reads need no lock: a row always holds one complete encrypted value that names its key. A token that is revoked
// during the rotation stays erased, because the update is a compare-and-set.
import type { Sql } from "../store/sql.ts";
import {
  findTokensSealedBy,
  resealToken,
  type TokenPlace,
  type TokenToReseal,
} from "../store/vault/vault-tokens.ts";
import { SealError, seal, unseal } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";
import {
  createCallbackWalk,
  createChannelWalk,
  createSigningWalk,
  type RotationStep,
} from "./other-seals.ts";
import { tokenContext } from "./vault.ts";

export const ROTATED_TOGETHER = 200;
/** Another node may still encrypt with the older key until the change has reached it. */
const ROUND_MS = 60_000;
/** There are many callbacks, and only open tasks have one: they are scanned every this many rounds. */
const CALLBACK_ROUNDS = 10;

export interface Rotation {
  /** Processes the next batch; after the last one the scan starts over. */
  rotateOnce(batch?: number): Promise<RotationStep>;
  /** For an actor: processes a batch and returns the milliseconds until the next; 0 while there is more. */
  turnOnce(): Promise<number>;
  /** For the command line: the whole scan. */
  rotateAll(): Promise<Omit<RotationStep, "done">>;
}

const NOTHING: RotationStep = { resealed: 0, unreadable: 0, done: true };

export function createRotation(deps: { readonly sql: Sql; readonly keyRing: KeyRing }): Rotation {
  const { sql, keyRing } = deps;
  const older = keyRing.ids.filter((id) => id !== keyRing.sealing.id);
  // Without a position, undecryptable tokens would be read again and again, and hide the rest.
  let place: TokenPlace | null = null;

  async function rotateOnce(batch = ROTATED_TOGETHER): Promise<RotationStep> {
    if (older.length === 0) return NOTHING;
    const tokens = await findTokensSealedBy(sql, older, place, batch);
    let resealed = 0;
    let unreadable = 0;
    for (const token of tokens) {
      const sealed = reseal(token);
      if (sealed === null) unreadable += 1;
      else if (await resealToken(sql, token, { keyId: keyRing.sealing.id, sealed })) resealed += 1;
    }
    const done = tokens.length < batch;
    place = done ? null : (tokens.at(-1) ?? null);
    return { resealed, unreadable, done };
  }

  function reseal(token: TokenToReseal): Buffer | null {
    const context = tokenContext(token.teamId, token.id);
    try {
      return seal(keyRing.sealing, context, unseal(keyRing, context, token.sealed));
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }

  const walks = [
    rotateOnce,
    createSigningWalk(deps, ROTATED_TOGETHER),
    createChannelWalk(deps, older, ROTATED_TOGETHER),
    createCallbackWalk(deps, older, ROTATED_TOGETHER),
  ];
  /** The current scan, and the round. With one key nothing is left after the first. */
  let current = 0;
  let round = 0;

  return {
    rotateOnce,
    async turnOnce() {
      for (; current < walks.length; current += 1) {
        const isDue =
          round === 0 || (older.length > 0 && (current < walks.length - 1 || round % CALLBACK_ROUNDS === 0));
        const step = isDue ? await walks[current]?.() : NOTHING;
        if (step?.done === false) return 0;
      }
      current = 0;
      round += 1;
      return ROUND_MS;
    },
    async rotateAll() {
      place = null;
      let resealed = 0;
      let unreadable = 0;
      for (const walk of walks) {
        for (let done = false; !done; ) {
          const step = await walk();
          resealed += step.resealed;
          unreadable += step.unreadable;
          done = step.done;
        }
      }
      return { resealed, unreadable };
    },
  };
}
