import type { Call } from "../domain/call.ts";
import type { Outcome } from "../domain/outcome.ts";
import { createRedactor, type Redactor } from "../domain/redaction/redaction.ts";
import type { Secret } from "../domain/secret.ts";

/** The values that references stand for, by reference, and whatever else must not come back in an answer. */
export interface CallSecrets {
  readonly byReference: ReadonlyMap<string, Secret>;
  readonly others: readonly Secret[];
}

/** Puts the credentials into the headers: the only place where they are readable, right before they leave. */
export function withCredentials(call: Call, { byReference }: CallSecrets): Call {
  const headers = Object.entries(call.headers).map(([name, value]) => [
    name,
    byReference.get(value)?.reveal() ?? value,
  ]);
  return { ...call, headers: Object.fromEntries(headers) };
}

/** Wipes the secrets from everything that will be recorded of an answer. */
export function withoutSecrets(outcome: Outcome, { byReference, others }: CallSecrets): Outcome {
  const redact = createRedactor([...byReference.values(), ...others]);
  if (outcome.kind === "failure") return { ...outcome, message: redact(outcome.message) };
  return {
    ...outcome,
    headers: redactHeaders(outcome.headers, redact),
    body: redact(outcome.body, { cut: outcome.truncated }),
  };
}

function redactHeaders(
  headers: Readonly<Record<string, string>>,
  redact: Redactor,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [redact(name), redact(value)]));
}
