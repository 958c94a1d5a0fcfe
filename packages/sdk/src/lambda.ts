import { createReceiver, type HandlerArgs } from "./receiver.ts";

export { type HandlerOptions, NoRetry, type Notification, type ReceivedCall } from "./receiver.ts";

/** What is used of an event of a Function URL, of API Gateway (REST, HTTP; payload 1.0, 2.0) or of a load balancer. */
export interface LambdaEvent {
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  /** Instead of `headers` where a load balancer is set up for it. */
  readonly multiValueHeaders?: Readonly<Record<string, string[] | undefined>> | null | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

/** An answer that all of them take. */
export interface LambdaResult {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded: boolean;
}

/** A function's handler: `export const receive = handler(async ({ payload }) => …)`. */
export function handler<Payload = unknown>(
  ...args: HandlerArgs<Payload>
): (event: LambdaEvent) => Promise<LambdaResult> {
  const receive = createReceiver(args);
  return async (event) => {
    const headers = event.headers ?? event.multiValueHeaders ?? {};
    const answered = await receive({ headers, body: bytesOf(event) });
    return {
      statusCode: answered.status,
      headers: Object.fromEntries(answered.headers),
      ...textOf(new Uint8Array(await answered.arrayBuffer())),
    };
  };
}

function bytesOf({ body, isBase64Encoded }: LambdaEvent): Uint8Array {
  if (!isBase64Encoded) return new TextEncoder().encode(body ?? "");
  return Uint8Array.from(atob(body ?? ""), (char) => char.charCodeAt(0));
}

/** A result's body is text; bytes that are none are base64. */
function textOf(bytes: Uint8Array): { readonly body: string; readonly isBase64Encoded: boolean } {
  try {
    return { body: new TextDecoder("utf-8", { fatal: true }).decode(bytes), isBase64Encoded: false };
  } catch {
    const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return { body: btoa(binary), isBase64Encoded: true };
  }
}
