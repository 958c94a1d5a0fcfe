import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import { after } from "node:test";
import type { Call } from "../../src/domain/call.ts";
import type { CallFailure, CallResponse, Outcome } from "../../src/domain/outcome.ts";
import { allowAll } from "../../src/outbound/address-guard.ts";
import {
  type Caller,
  type CallerOptions,
  createCaller,
  type SendOptions,
} from "../../src/outbound/caller.ts";

export interface Target {
  readonly url: string;
  readonly port: number;
  /** Every connection so far, open or closed. */
  readonly sockets: readonly Socket[];
}

/** A target that answers through node:http. */
export async function httpTarget(listener: RequestListener): Promise<Target> {
  return listen(createServer(listener));
}

/** A target that says exactly the given bytes, or nothing. */
export async function tcpTarget(onSocket: (socket: Socket) => void): Promise<Target> {
  return listen(createTcpServer(onSocket));
}

/** Answers each request's first bytes with the given text, byte for byte. */
export async function scriptedTarget(answer: string): Promise<Target> {
  return tcpTarget((socket) => socket.once("data", () => socket.write(answer, "latin1")));
}

export async function listen(server: Server | TcpServer, host = "127.0.0.1", port = 0): Promise<Target> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
  });
  server.listen(port, host);
  await once(server, "listening");
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = addressOf(server);
  return { url: `http://${host}:${address.port}`, port: address.port, sockets };
}

/** Waits until the target has lost its n-th connection, by whatever end. */
export async function connectionClosed(target: Target, index = 0): Promise<void> {
  const socket = target.sockets[index];
  if (socket === undefined) throw new Error("there was no such connection");
  if (!socket.destroyed) await new Promise((resolve) => socket.once("close", resolve));
}

function addressOf(server: TcpServer): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not a TCP server");
  return address;
}

export function newCaller(options: Partial<CallerOptions> = {}): Caller {
  const caller = createCaller({ userAgent: "Bellhop/test", guard: allowAll, ...options });
  after(() => caller.destroy());
  return caller;
}

export function call(url: string, more: Partial<Call> = {}): Call {
  return { method: "POST", url, headers: {}, body: null, ...more };
}

/** Long enough never to matter: a test that is about time states its own. */
export const PATIENT: SendOptions = { timeoutMs: 10_000, headers: {} };

export function assertResponse(outcome: Outcome): asserts outcome is CallResponse {
  if (outcome.kind !== "response") throw new Error(`expected a response, got ${JSON.stringify(outcome)}`);
}

export function assertFailure(outcome: Outcome): asserts outcome is CallFailure {
  if (outcome.kind !== "failure") throw new Error(`expected a failure, got ${JSON.stringify(outcome)}`);
}
