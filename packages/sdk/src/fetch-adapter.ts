import { BellhopError } from "./errors.ts";
import type { Receive } from "./receiver.ts";

/** For servers that speak `Request` and `Response`. */
export function receiveFetch(receive: Receive, request: Request): Promise<Response> {
  return receive({ headers: request.headers, body: piecesOf(request) });
}

/** Not every runtime lets `for await` walk over a stream. */
async function* piecesOf(request: Request): AsyncGenerator<Uint8Array> {
  if (request.bodyUsed) throw new BellhopError("The body was read before the handler saw it");
  const reader = request.body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
