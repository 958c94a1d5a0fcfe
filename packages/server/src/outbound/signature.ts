import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** The key is the base64 behind this prefix. */
const PREFIX = "whsec_";

/** Secrets are few and calls are many: each is decoded once. */
const MAX_KEYS = 1000;
const keys = new Map<string, KeyObject>();

function keyOf(secret: string): KeyObject {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  if (keys.size >= MAX_KEYS) keys.clear();
  const key = createSecretKey(Buffer.from(secret.slice(PREFIX.length), "base64"));
  keys.set(secret, key);
  return key;
}

/**
 * The headers by which a target can tell that a call is ours, as Standard Webhooks has them. The id is the same on
 * every attempt. While a secret is being replaced both sign, so that the target may hold either.
 */
export function signatureHeaders(
  secrets: readonly string[],
  id: string,
  timestampSeconds: number,
  body: string,
): Record<string, string> {
  const content = `${id}.${timestampSeconds}.${body}`;
  const signatures = secrets.map((secret) => {
    return `v1,${createHmac("sha256", keyOf(secret)).update(content).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signatures.join(" "),
  };
}
