import { createHash } from "node:crypto";
import type { Call } from "../../domain/call.ts";
import { isRedacted, type Message } from "../../domain/message.ts";

/*
 * Redacted fields are replaced where tasks are read to be shown, and where an answer shows a task that was just created.
 * Claims read the row itself, so calls have the original.
 */

export function shownCall(call: Call, message: Message | null): Call {
  if (message?.redact === undefined) return call;
  return { ...call, headers: shownHeaders(call.headers, message), body: shownBody(call.body, message) };
}

export function shownBody(body: string | null, message: Message | null): string | null {
  return body === null || message?.redact?.body !== true ? body : redacted(bytesOf(body, message));
}

export function shownHeaders(
  headers: Readonly<Record<string, string>>,
  message: Message | null,
): Readonly<Record<string, string>> {
  const redact = message?.redact;
  if (redact?.headers === undefined) return headers;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isRedacted(redact, name) ? redacted(value) : value,
    ]),
  );
}

function bytesOf(body: string, message: Message): Buffer {
  return Buffer.from(body, message.base64 === true ? "base64" : "utf8");
}

/** Equal values stay recognisable. */
function redacted(value: string | Buffer): string {
  return `REDACTED:${createHash("sha256").update(value).digest("hex")}`;
}
