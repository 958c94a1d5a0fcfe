// A new key is put in front of the old one; every token then gets a seal of the new key, and the old key can go. Reads
// need no lock: a row holds one whole sealed value at any time, which says itself by which key it opens. A token that
// is revoked while it is being resealed stays wiped, because the new seal is a compare-and-set.
import type { Sql } from "../store/sql.ts";
import {
  findTokensSealedBy,
  resealToken,
  type TokenPlace,
  type TokenToReseal,
} from "../store/vault/vault-tokens.ts";
import { SealError, seal, unseal } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";
import { createCallbackWalk, createSigningWalk, type RotationStep } from "./other-seals.ts";
import { tokenContext } from "./vault.ts";

const BATCH = 200;
/** Another node may still seal with the older key while the change makes its way through the cluster. */
const ROUND_MS = 60_000;
/** Callbacks are many, and only tasks that have not ended hold one: they are looked through every so many rounds. */
const CALLBACK_ROUNDS = 10;

export interface Rotation {
  /** Takes the next batch; after the last one the walk begins again. */
  rotateOnce(batch?: number): Promise<RotationStep>;
  /** For an actor: a batch, and how long to nap; not at all while there is more. */
  turnOnce(): Promise<number>;
  /** For the command line: the whole walk. */
  rotateAll(): Promise<Omit<RotationStep, "done">>;
}

const NOTHING: RotationStep = { resealed: 0, unreadable: 0, done: true };

export function createRotation(deps: { readonly sql: Sql; readonly keyRing: KeyRing }): Rotation {
  const { sql, keyRing } = deps;
  const older = keyRing.ids.filter((id) => id !== keyRing.sealing.id);
  // Without a place to go on from, tokens that do not open would be taken up again and again, and hide the rest.
  let place: TokenPlace | null = null;

  async function rotateOnce(batch = BATCH): Promise<RotationStep> {
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

  const walks = [rotateOnce, createSigningWalk(deps, BATCH), createCallbackWalk(deps, older, BATCH)];
  /** Which walk is being made, and which round of all of them. With one key there is nothing left after the first. */
  let current = 0;
  let round = 0;

  return {
    rotateOnce,
    async turnOnce() {
      for (; current < walks.length; current += 1) {
        const isDue = round === 0 || (older.length > 0 && (current < 2 || round % CALLBACK_ROUNDS === 0));
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
