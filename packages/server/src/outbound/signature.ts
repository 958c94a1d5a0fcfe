import { createHmac } from "node:crypto";

/** The key is the base64 behind this prefix. */
const PREFIX = "whsec_";

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
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signatures.join(" "),
  };
}
