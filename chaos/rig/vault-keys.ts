import type { Plant } from "./plants.ts";

/** The keys of the vault in these runs, and nowhere else. */
const [OLD, NEW] = ["chaos", "chaos-new"].map((id, index) => {
  return { id, key: `${id}:${Buffer.alloc(32, 7 + index).toString("base64")}` };
}) as [VaultKey, VaultKey];
interface VaultKey {
  readonly id: string;
  readonly key: string;
}

export const VAULT_KEYS = OLD.key;
export const NEWEST_KEY_ID = NEW.id;
/** As docs/production.md says: every node can read with the new key before one seals with it. */
export const RINGS = [`${OLD.key},${NEW.key}`, `${NEW.key},${OLD.key}`];
/** The rotation reads the vault all the time, callback ids too, so that it seals rows again while they change. */
export const SHORT_ROUNDS: Plant["edits"] = [
  { file: "vault/rotation.js", find: "const ROUND_MS = 60_000;", replace: "const ROUND_MS = 1_000;" },
  { file: "vault/rotation.js", find: "const CALLBACK_ROUNDS = 10;", replace: "const CALLBACK_ROUNDS = 1;" },
];
