import type { Call } from "../domain/call.ts";
import type { Outcome } from "../domain/outcome.ts";
import { createRedactor, type Redactor } from "../domain/redaction/redaction.ts";
import { finish, type Portions } from "../domain/redaction/text-search.ts";
import { REDACTED, type Secret } from "../domain/secret.ts";
import type { Wiping } from "./wiping.ts";

/** The values of references, and other secrets that must not appear in an answer. */
export interface CallSecrets {
  readonly byReference: ReadonlyMap<string, Secret>;
  readonly others: readonly Secret[];
}

/** Removes the secrets of a call from a text. `cut`: the text was cut, perhaps inside one. */
export type WipeText = (text: string, cut: boolean) => Promise<WipedText>;

export interface WipedText {
  readonly text: string;
  /** It took too long: the whole text was dropped. */
  readonly lost: boolean;
}

/** So short that it is searched at once, unless the secrets are long. */
const SHORT_TEXT = 16_384;
/** Characters of all secrets of a call. To make ready to look for longer ones takes milliseconds. */
const SHORT_SECRETS = 2_048;

/** Inserts the credentials into the headers: the only place where they are readable, right before they are sent. */
export function withCredentials(call: Call, { byReference }: CallSecrets): Call {
  const headers = Object.entries(call.headers).map(([name, value]) => [
    name,
    byReference.get(value)?.reveal() ?? value,
  ]);
  return { ...call, headers: Object.fromEntries(headers) };
}

export function createSecretWiper(
  { byReference, others }: CallSecrets,
  wiping: Wiping,
  teamId: number,
): SecretWiper {
  const secrets = [...byReference.values(), ...others];
  const redactor = createRedactor(secrets);
  const isQuick = secrets.reduce((sum, secret) => sum + secret.reveal().length, 0) <= SHORT_SECRETS;

  async function wipeText(text: string, cut: boolean): Promise<WipedText> {
    if (isQuick && text.length <= SHORT_TEXT) return { text: redactor.redact(text, { cut }), lost: false };
    const wiped = await wiping.run(teamId, redactor.redactInPortions(text, { cut }));
    return wiped === null ? { text: REDACTED, lost: true } : { text: wiped, lost: false };
  }

  async function wipeSmall(outcome: Outcome): Promise<Outcome> {
    if (isQuick) return finish(wipeAllButBody(outcome, redactor));
    const wiped = await wiping.run(teamId, wipeAllButBody(outcome, redactor));
    if (wiped !== null) return wiped;
    return outcome.kind === "failure" ? { ...outcome, message: REDACTED } : { ...outcome, headers: {} };
  }

  return {
    wipeText,
    async wipeOutcome(outcome) {
      const small = await wipeSmall(outcome);
      if (small.kind === "failure") return small;
      const { text, lost } = await wipeText(small.body, small.truncated);
      return { ...small, body: text, truncated: small.truncated || lost };
    },
    wipeSmall,
  };
}

export interface SecretWiper {
  /** Of everything that will be recorded of an answer. */
  wipeOutcome(outcome: Outcome): Promise<Outcome>;
  /** Of all but its body. */
  wipeSmall(outcome: Outcome): Promise<Outcome>;
  readonly wipeText: WipeText;
}

function* wipeAllButBody(outcome: Outcome, { redactInPortions }: Redactor): Portions<Outcome> {
  if (outcome.kind === "failure") return { ...outcome, message: yield* redactInPortions(outcome.message) };
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(outcome.headers))
    headers.push([yield* redactInPortions(name), yield* redactInPortions(value)]);
  return { ...outcome, headers: Object.fromEntries(headers) };
}
