import { createServer, type RequestListener, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { sourceOf } from "../../domain/identity/source-address.ts";
import { Problem } from "../../domain/problem.ts";
import { NO_SNIFF, problemText } from "./error-answer.ts";
import { newRequestId, REQUEST_ID_HEADER } from "./request-id.ts";

/** Limits for clients before authentication. */
export interface ConnectionBounds {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly keepAliveMs: number;
  /** How often slow connections are checked. */
  readonly checkEveryMs: number;
  readonly mostConnections: number;
  /** From one source: an address, or an IPv6 /64. */
  readonly mostPerSource: number;
  /** Proxies, which many clients share. */
  readonly isProxy: (address: string) => boolean;
}

export const CONNECTION_BOUNDS: ConnectionBounds = {
  // A kilobyte or two, from anywhere in the world. Also the maximum idle time of a new connection.
  headersTimeoutMs: 20_000,
  // The largest body must fit through a slow line, and a byte a minute must not hold a connection open.
  requestTimeoutMs: 60_000,
  // No traffic in either direction: a client that does not read its answer keeps it in memory.
  stallTimeoutMs: 60_000,
  // Longer than the 60 s of common load balancers: the side that pools connections must be the one that closes them.
  keepAliveMs: 72_000,
  checkEveryMs: 1_000,
  // An open connection costs some 10 kB and a file descriptor: 100 MB, and far below what systems allow a server.
  mostConnections: 10_000,
  // A tenth: more than the pool of any client, and ten sources have to come together to fill the server.
  mostPerSource: 1_000,
  isProxy: () => false,
};

/** Health checks of supervisors, which end a node that does not answer: they are served even at the limit. */
const HEALTH = /^\/(livez|readyz|healthz)\/?($|\?)/;

/** As many as Apache accepts; all must fit into 16 KiB anyway. Node silently drops headers beyond 2,000. */
const MOST_HEADERS = 100;
/** Beyond the maximum, connections get an answer; beyond this share of it they are closed silently. */
const TOLD_SHARE = 1.1;
const TELL_EVERY_MS = 1_000;

/**
 * The server, with an end to what a connection may cost. There is no limit to the requests on one connection: the caller that
 * sends many is the one we are here for.
 *
 * Where there are too many connections, of one source or in all, a new one takes the place of the oldest that has no request
 * under way: half a request, or one that is kept open for the next. So what one client leaves lying about shuts out
 * neither others nor, behind the same address, its neighbours. Only where all are at work is the new one told to wait.
 */
export function createBoundedServer(
  handler: RequestListener,
  bounds: ConnectionBounds,
  /** Called at most once a second while there are too many. */
  onCrowded: (open: number) => void,
): Server {
  const { mostConnections, mostPerSource } = bounds;
  const late = new WeakSet<Socket>();
  /** Each with its source, oldest first. */
  const open = new Map<Socket, string>();
  const bySource = new Map<string, Set<Socket>>();
  let toldAtMs = Number.NEGATIVE_INFINITY;

  const server = createServer(
    {
      headersTimeout: bounds.headersTimeoutMs,
      requestTimeout: bounds.requestTimeoutMs,
      keepAliveTimeout: bounds.keepAliveMs,
      connectionsCheckingInterval: bounds.checkEveryMs,
    },
    (request, response) => {
      if (late.has(request.socket) && !HEALTH.test(request.url ?? ""))
        refuse(response, new Problem("crowded"));
      else if (request.rawHeaders.length > 2 * MOST_HEADERS)
        refuse(response, new Problem("headers_too_large"));
      else handler(request, response);
    },
  );
  server.setTimeout(bounds.stallTimeoutMs);
  endConnectionsWith(server, open);
  server.maxConnections = Math.ceil(mostConnections * TOLD_SHARE);

  function tellCrowded(): void {
    const nowMs = performance.now();
    if (nowMs - toldAtMs < TELL_EVERY_MS) return;
    toldAtMs = nowMs;
    onCrowded(open.size);
  }

  function forget(socket: Socket): void {
    const source = open.get(socket);
    if (source === undefined) return;
    open.delete(socket);
    const siblings = bySource.get(source);
    siblings?.delete(socket);
    if (siblings?.size === 0) bySource.delete(source);
  }

  /** Whether the newest fits, perhaps in place of another. */
  function makeRoom(
    sockets: ReadonlySet<Socket> | ReadonlyMap<Socket, string>,
    newest: Socket,
    most: number,
  ): boolean {
    if (sockets.size <= most) return true;
    tellCrowded();
    for (const socket of sockets.keys()) {
      if (socket === newest || answerOn(socket) !== null) continue;
      socket.destroy();
      // At once, because its close event comes a moment later.
      forget(socket);
      return true;
    }
    return false;
  }

  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const source = sourceOf(address);
    const siblings = bySource.get(source) ?? new Set();
    bySource.set(source, siblings.add(socket));
    open.set(socket, source);
    socket.once("close", () => forget(socket));
    const isProxy = bounds.isProxy(address);
    const fits =
      (isProxy || makeRoom(siblings, socket, mostPerSource)) && makeRoom(open, socket, mostConnections);
    if (fits) return;
    late.add(socket);
    if (!isProxy && siblings.size > mostPerSource * TOLD_SHARE) socket.destroy();
  });
  return server;
}

/** The answer in progress on this connection. */
function answerOn(socket: Socket): ServerResponse | null {
  return "_httpMessage" in socket && socket._httpMessage instanceof ServerResponse
    ? socket._httpMessage
    : null;
}

/**
 * On close, Node ends idle connections and waits for all others: those without a first request, and those kept open
 * after the current answer. Clients need never close them.
 */
function endConnectionsWith(server: Server, open: ReadonlyMap<Socket, string>): void {
  function end(socket: Socket): void {
    const answer = answerOn(socket);
    if (answer === null) socket.destroySoon();
    else answer.once("close", () => end(socket));
  }
  const close = server.close.bind(server);
  server.close = (done) => {
    close(done);
    for (const socket of [...open.keys()]) end(socket);
    return server;
  };
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
