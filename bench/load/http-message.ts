/**
 * Just enough HTTP/1.1 for the load generator and the target, on bare sockets. They share the cores with what they
 * measure: with undici and node:http they took as much CPU per task as the skeleton itself, and hid half of any difference.
 */
export interface HttpMessage {
  /** The first line. */
  start: string;
  body: string;
  /** What came behind this message. */
  rest: string;
}

const lengthPattern = /\r\ncontent-length: *(\d+)/i;

/** Takes the first whole message off what a socket has sent (as latin1, so that lengths are bytes), if there is one. */
export function takeMessage(received: string): HttpMessage | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = received.slice(0, headEnd);
  const start = head.slice(0, head.indexOf("\r\n"));
  const length = lengthPattern.exec(head)?.[1];
  if (length === undefined && !start.startsWith("GET ")) {
    throw new Error(`the bench reads only messages with a content-length, and got:\n${head}`);
  }
  const end = headEnd + 4 + Number(length ?? 0);
  if (received.length < end) return undefined;
  return { start, body: received.slice(headEnd + 4, end), rest: received.slice(end) };
}
