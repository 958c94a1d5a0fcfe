import { BellhopError } from "./errors.ts";
import type { Receive } from "./receiver.ts";

/** What is used of Node's `IncomingMessage`, or of a framework's request that is one. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What a parser before the handler made of the body. */
  readonly body?: unknown;
  /** The body as it arrived, where a platform keeps it beside what it parsed. */
  readonly rawBody?: unknown;
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: Uint8Array): unknown;
}

/** For Node's own server, and frameworks that hand its objects on. */
export async function receiveNode(
  receive: Receive,
  request: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  const answered = await receive({ headers: request.headers, body: piecesOf(request) });
  response.statusCode = answered.status;
  answered.headers.forEach((value, name) => {
    response.setHeader(name, value);
  });
  response.end(new Uint8Array(await answered.arrayBuffer()));
}

async function* piecesOf(request: NodeRequest): AsyncGenerator<Uint8Array> {
  const read = request.rawBody ?? request.body;
  if (read === undefined) yield* request;
  else if (read instanceof Uint8Array) yield read;
  else if (typeof read === "string") yield new TextEncoder().encode(read);
  else {
    throw new BellhopError(
      "The body was parsed before the handler saw it: put the handler before the parser",
    );
  }
}
