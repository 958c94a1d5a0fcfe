import type { Call } from "./call.ts";

const PLACEHOLDER = /\{callback(Url|Id)\}/g;

/** Whether the call contains a callback placeholder. */
export function namesCallback({ url, headers, body }: Call): boolean {
  return [url, body ?? "", ...Object.values(headers)].some((text) => text.search(PLACEHOLDER) >= 0);
}

export function callbackUrl(publicUrl: string, callbackId: string): string {
  return `${publicUrl}/v1/callbacks/${callbackId}`;
}

/**
 * Replaces the placeholders. A JSON body stays JSON: both values are plain characters, and a placeholder can only be
 * inside a string.
 */
export function fillPlaceholders(call: Call, publicUrl: string, callbackId: string): Call {
  const url = callbackUrl(publicUrl, callbackId);
  const fill = (text: string) =>
    text.replace(PLACEHOLDER, (_, which) => (which === "Url" ? url : callbackId));
  return {
    method: call.method,
    // In a URL the callback's address is percent-encoded.
    url: call.url.replace(PLACEHOLDER, (_, which) =>
      which === "Url" ? encodeURIComponent(url) : callbackId,
    ),
    headers: Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name, fill(value)])),
    body: call.body === null ? null : fill(call.body),
  };
}
