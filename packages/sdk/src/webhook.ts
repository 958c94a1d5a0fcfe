import { SignatureError } from "./errors.ts";
import { readKeys, type Secrets, type SigningKey } from "./secrets.ts";
import { webCrypto } from "./web-crypto.ts";

/** Headers of fetch or of Node. */
export type AnyHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Webhook {
  /** The task's id, the same on every attempt; a notification has one of its own. */
  readonly id: string;
  /** When it was sent. */
  readonly sentAt: Date;
  /** The body: JSON as the value that it is, anything else as text, none as null. */
  readonly payload: unknown;
}

/** Older requests could be replays; clocks may differ this much. */
const TOLERANCE_MS = 5 * 60_000;

/**
 * Verifies a request by the rules of Standard Webhooks and returns the signed content. Throws a `SignatureError` if it
 * is not from Bellhop. `body` must be the exact received bytes.
 */
export async function verifyWebhook(
  request: SignedRequest & {
    /** The team's, `whsec_…`, or several; by default `BELLHOP_SIGNING_SECRET`. */
    readonly secret?: Secrets | undefined;
    readonly now?: Date | undefined;
  },
): Promise<Webhook> {
  return verify(readKeys(request.secret), request, request.now);
}

export interface SignedRequest {
  readonly body: string | Uint8Array;
  readonly headers: AnyHeaders;
}

export async function verify(
  keys: readonly SigningKey[],
  request: SignedRequest,
  now = new Date(),
): Promise<Webhook> {
  const id = headerOf(request.headers, "webhook-id");
  const timestamp = headerOf(request.headers, "webhook-timestamp");
  const signatures = headerOf(request.headers, "webhook-signature");
  if (!id || !timestamp || !signatures) throw new SignatureError("The request is not signed");
  const sentAt = new Date(/^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN);
  const ageMs = now.getTime() - sentAt.getTime();
  // Written so that a timestamp which is no number is refused too.
  if (!(Math.abs(ageMs) <= TOLERANCE_MS)) throw new SignatureError("The signature is too old or too new");

  const given = signatures.split(" ");
  const signing = keys.map((key) => sign(key, id, timestamp, request.body));
  const expected = await Promise.all(signing);
  if (!given.some((signature) => expected.some((one) => isSame(signature, one)))) {
    throw new SignatureError("The signature does not match");
  }
  return { id, sentAt, payload: payloadOf(request.body) };
}

/**
 * The headers that `verifyWebhook` accepts for a body: for tests, and for tools that forward Bellhop's requests.
 * Several secrets give several signatures.
 */
export async function signWebhook(request: {
  readonly id: string;
  readonly body: string | Uint8Array;
  /** `whsec_…`, or several; by default `BELLHOP_SIGNING_SECRET`. */
  readonly secret?: Secrets | undefined;
  readonly now?: Date | undefined;
}): Promise<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>> {
  const { id, body, now = new Date() } = request;
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signing = readKeys(request.secret).map((key) => sign(key, id, timestamp, body));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": (await Promise.all(signing)).join(" "),
  };
}

/** One entry of `webhook-signature`. */
export async function sign(
  signingKey: SigningKey,
  id: string,
  timestamp: string,
  body: string | Uint8Array,
): Promise<string> {
  const { subtle } = await webCrypto();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", signingKey, algorithm, false, ["sign"]);
  const encoder = new TextEncoder();
  const head = encoder.encode(`${id}.${timestamp}.`);
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  const signature = new Uint8Array(await subtle.sign(algorithm.name, key, signed));
  return `v1,${btoa(String.fromCharCode(...signature))}`;
}

export function headerOf(headers: AnyHeaders, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const found = Object.keys(headers).find((one) => one.toLowerCase() === name);
  const value = found === undefined ? undefined : headers[found];
  return (typeof value === "string" ? value : value?.join(", ")) ?? null;
}

/** Compares in constant time. */
function isSame(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < other.length; at += 1) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

function payloadOf(body: string | Uint8Array): unknown {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
