import { fromEnvironment } from "./environment.ts";
import { BellhopError } from "./errors.ts";

/** `whsec_…`: a team's signing secret, or several of which any may have signed. */
export type Secrets = string | readonly string[];

export type SigningKey = Uint8Array<ArrayBuffer>;

/** The keys of what is given, by default of `BELLHOP_SIGNING_SECRET`. Throws where there is none; no error shows a secret. */
export function readKeys(given: Secrets | undefined): readonly SigningKey[] {
  const secrets = given ?? fromEnvironment("BELLHOP_SIGNING_SECRET");
  if (secrets === undefined) {
    throw new BellhopError("A signing secret is missing: set BELLHOP_SIGNING_SECRET, or give secret");
  }
  const name = given === undefined ? "BELLHOP_SIGNING_SECRET" : "secret";
  const keys = [secrets]
    .flat()
    .flatMap((secret) => splitSecrets(secret, name).map((one) => keyOf(one, name)));
  if (keys.length === 0) throw new BellhopError(`${name} must be whsec_ and base64, and is empty`);
  return keys;
}

/** Several are separated by spaces or commas, which base64 does not have. */
function splitSecrets(secret: unknown, name: string): string[] {
  if (typeof secret !== "string") throw new BellhopError(`${name} must be whsec_ and base64, and is no text`);
  return secret.split(/[\s,]+/).filter((one) => one !== "");
}

function keyOf(secret: string, name: string): SigningKey {
  try {
    const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (char) => char.charCodeAt(0));
    if (bytes.length > 0) return bytes;
  } catch {
    // Answered below, without the secret.
  }
  throw new BellhopError(`${name} must be whsec_ and base64`);
}
