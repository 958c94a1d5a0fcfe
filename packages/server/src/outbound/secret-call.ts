import type { Call } from "../domain/call.ts";
import type { CallResponse, Outcome } from "../domain/outcome.ts";
import { createRedactor, type Redactor } from "../domain/redaction/redaction.ts";
import { REDACTED, type Secret } from "../domain/secret.ts";
import type { Wiping } from "./wiping.ts";

/** The values that references stand for, by reference, and whatever else must not come back in an answer. */
export interface CallSecrets {
  readonly byReference: ReadonlyMap<string, Secret>;
  readonly others: readonly Secret[];
}

/** Wipes the secrets of a call from a text. `cut`: the text was cut off, perhaps in the middle of one. */
export type WipeText = (text: string, cut: boolean) => Promise<WipedText>;

export interface WipedText {
  readonly text: string;
  /** It took too long: nothing of the text is left. */
  readonly lost: boolean;
}

/** So short that it is searched at once. */
const SHORT_TEXT = 16_384;

/** Puts the credentials into the headers: the only place where they are readable, right before they leave. */
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
  const redactor = createRedactor([...byReference.values(), ...others]);

  async function wipeText(text: string, cut: boolean): Promise<WipedText> {
    if (text.length <= SHORT_TEXT) return { text: redactor.redact(text, { cut }), lost: false };
    const wiped = await wiping.run(teamId, redactor.redactInPortions(text, { cut }));
    return wiped === null ? { text: REDACTED, lost: true } : { text: wiped, lost: false };
  }

  return {
    wipeText,
    async wipeOutcome(outcome) {
      const small = wipeSmall(outcome, redactor);
      if (small.kind === "failure") return small;
      const { text, lost } = await wipeText(small.body, small.truncated);
      return { ...small, body: text, truncated: small.truncated || lost };
    },
    wipeSmall: (outcome) => wipeSmall(outcome, redactor),
  };
}

export interface SecretWiper {
  /** Of everything that will be recorded of an answer. */
  wipeOutcome(outcome: Outcome): Promise<Outcome>;
  /** Of all but its body. */
  wipeSmall(outcome: Outcome): Outcome;
  readonly wipeText: WipeText;
}

function wipeSmall(outcome: Outcome, redactor: Redactor): Outcome {
  if (outcome.kind === "failure") return { ...outcome, message: redactor.redact(outcome.message) };
  return { ...outcome, headers: wipeHeaders(outcome, redactor) };
}

function wipeHeaders({ headers }: CallResponse, { redact }: Redactor): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [redact(name), redact(value)]));
}
