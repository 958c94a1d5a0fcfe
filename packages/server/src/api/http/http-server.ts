import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Problem } from "../../domain/problem.ts";
import { NO_SNIFF, problemText } from "./error-answer.ts";
import { newRequestId, REQUEST_ID_HEADER } from "./request-id.ts";

/** What a client may take of us before it has shown who it is. */
export interface ConnectionBounds {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly keepAliveMs: number;
  /** How often connections are looked over for those that take too long. */
  readonly checkEveryMs: number;
  readonly mostConnections: number;
}

export const CONNECTION_BOUNDS: ConnectionBounds = {
  // A kilobyte or two, from anywhere in the world. Also how long a connection may be open without a word.
  headersTimeoutMs: 20_000,
  // The largest body must fit through a slow line, and nobody may hold a connection open by sending a byte a minute.
  requestTimeoutMs: 60_000,
  // Nothing moves in either direction: a client that does not read its answer keeps it in our memory.
  stallTimeoutMs: 60_000,
  // Longer than the 60 s of common load balancers: whoever pools connections must be the one who closes them.
  keepAliveMs: 72_000,
  checkEveryMs: 1_000,
  // An open connection costs some 10 kB and a file descriptor: 100 MB, and far below what systems allow a server.
  mostConnections: 10_000,
};

/** As many as Apache takes; all of them have to fit into 16 KiB anyway. Beyond 2,000 Node drops them in silence. */
const MOST_HEADERS = 100;
/** Beyond the most, connections are told so; beyond this share of it they are closed without a word. */
const TOLD_SHARE = 1.1;
const SWEEP_EVERY_MS = 1_000;

/**
 * The server, with an end to what a connection may cost. There is no limit to the requests on one connection: whoever
 * sends many is whom we are here for.
 */
export function createBoundedServer(
  handler: RequestListener,
  bounds: ConnectionBounds,
  /** Told once a second at most while there are too many. */
  onCrowded: (open: number) => void,
): Server {
  const { mostConnections } = bounds;
  const late = new WeakSet<Socket>();
  let open = 0;
  let sweptAtMs = Number.NEGATIVE_INFINITY;

  const server = createServer(
    {
      headersTimeout: bounds.headersTimeoutMs,
      requestTimeout: bounds.requestTimeoutMs,
      keepAliveTimeout: bounds.keepAliveMs,
      connectionsCheckingInterval: bounds.checkEveryMs,
    },
    (request, response) => {
      if (open > mostConnections && late.has(request.socket)) refuse(response, new Problem("crowded"));
      else if (request.rawHeaders.length > 2 * MOST_HEADERS)
        refuse(response, new Problem("headers_too_large"));
      else handler(request, response);
    },
  );
  server.setTimeout(bounds.stallTimeoutMs);
  server.maxConnections = Math.ceil(mostConnections * TOLD_SHARE);
  server.on("connection", (socket) => {
    open += 1;
    socket.once("close", () => {
      open -= 1;
    });
    if (open <= mostConnections) return;
    late.add(socket);
    // Those that are kept open for a next request make room for those that have one.
    const nowMs = performance.now();
    if (nowMs - sweptAtMs < SWEEP_EVERY_MS) return;
    sweptAtMs = nowMs;
    onCrowded(open);
    server.closeIdleConnections();
  });
  return server;
}

function refuse(response: ServerResponse, problem: Problem): void {
  const body = problemText(problem);
  if (problem.retryAfterSeconds !== null) response.setHeader("retry-after", problem.retryAfterSeconds);
  response.writeHead(problem.status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    [REQUEST_ID_HEADER]: newRequestId(),
    ...NO_SNIFF,
    connection: "close",
  });
  response.end(body);
}
