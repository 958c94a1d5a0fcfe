import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** The key is the base64 behind this prefix. */
const PREFIX = "whsec_";

/** Each secret is decoded once: there are few secrets and many calls. */
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
 * The signature headers of Standard Webhooks. The id is the same on every attempt. During a rotation both secrets sign,
 * so that the target may have either.
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
