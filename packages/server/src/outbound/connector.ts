import { isIP, Socket } from "node:net";
import { buildConnector } from "undici";
import type { AddressGuard, GuardVerdict } from "./address-guard.ts";
import { ConnectFailure, describeConnectError, describeLookupError } from "./connect-failure.ts";
import type { LookupLine } from "./lookup-line.ts";
import { endPauseWithConnection } from "./paused-connection.ts";
import { readPort } from "./target.ts";
import type { WaitingCalls } from "./waiting-calls.ts";
import { limitWire } from "./wire-limit.ts";

/**
 * The only place that opens an outgoing socket. The checked address is the connected address: the name is resolved
 * once, here, and only IP addresses are passed on.
 */

/** A name with a thousand addresses must not turn one call into a thousand connections. */
const MAX_ADDRESSES_TRIED = 4;

export interface ConnectorOptions {
  readonly guard: AddressGuard;
  /** For DNS, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Maximum bytes from a target per exchange. */
  readonly maxWireBytes?: number;
  readonly names: LookupLine;
  /** The teams whose calls still need a connection to this origin. */
  readonly waiting: Pick<WaitingCalls, "has" | "teamsOf">;
  /** Called for every failed connection. */
  readonly onConnectError?: ((error: unknown) => void) | undefined;
}

export interface Connector {
  readonly connect: buildConnector.connector;
  /** Drops every opening connection and opens no more. */
  stop(): void;
}

export function createConnector(options: ConnectorOptions): Connector {
  const { guard, connectTimeoutMs, names, waiting, maxWireBytes, onConnectError } = options;
  const opening = new Set<Socket>();
  let stopped = false;

  const openSocket = buildConnector({
    allowH2: false,
    // Undici's connect timer ticks twice a second at best; ours is below.
    timeout: 0,
    // Never called for an IP address. A name must not be resolved unchecked here.
    lookup: (_hostname, _options, callback) => callback(new Error("unchecked lookup"), ""),
  });

  async function findAddresses(hostname: string, origin: string): Promise<readonly string[]> {
    if (isIP(hostname) !== 0) return [hostname];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const message = `The address of host ${hostname} was not found within ${connectTimeoutMs / 1000} s`;
      timer = setTimeout(() => reject(new ConnectFailure("dns_failed", message)), connectTimeoutMs);
      // It must not keep the process alive.
      timer.unref();
    });
    try {
      return await Promise.race([names.find(hostname, waiting.teamsOf(origin)), late]);
    } catch (error) {
      throw error instanceof ConnectFailure ? error : describeLookupError(error, hostname);
    } finally {
      clearTimeout(timer);
    }
  }

  function openTo(address: string, options: buildConnector.Options, budgetMs: number): Promise<Socket> {
    return new Promise((fulfil, reject) => {
      let late = false;
      // `host` still holds the name, so SNI, the certificate check and the Host header follow the name.
      const returned: unknown = openSocket({ ...options, hostname: address }, (error, socket) => {
        clearTimeout(timer);
        if (pending !== null) opening.delete(pending);
        if (error !== null) reject(error);
        else if (late) socket.destroy();
        else fulfil(socket);
      });
      // Declared as void, but a socket: without it an abandoned attempt stays open until the kernel times out.
      const pending = returned instanceof Socket ? returned : null;
      if (pending !== null) opening.add(pending);
      const timer = setTimeout(() => {
        late = true;
        const message = `Host ${options.hostname} did not accept the connection in time`;
        reject(new ConnectFailure("connect_timeout", message));
        if (pending !== null) opening.delete(pending);
        pending?.destroy();
      }, budgetMs);
    });
  }

  async function open(options: buildConnector.Options): Promise<Socket> {
    const { hostname, protocol } = options;
    const origin = `${protocol}//${options.host}`;
    const deadlineAt = performance.now() + connectTimeoutMs;
    if (stopped || !waiting.has(origin)) throw unwanted();
    const port = readPort(options.port, protocol);
    if (guard.checkName !== undefined) obey(guard.checkName(hostname, port));
    const addresses = await findAddresses(hostname, origin);
    let failure = new ConnectFailure("dns_failed", `No address found for host ${hostname}`);
    if (addresses.length === 0) throw failure;
    obey(guard.check(hostname, addresses, port));

    const tried = addresses.slice(0, MAX_ADDRESSES_TRIED);
    for (const [index, address] of tried.entries()) {
      if (stopped || !waiting.has(origin)) throw unwanted();
      // A share for each address: one that drops packets must leave time for the next.
      const budgetMs = (deadlineAt - performance.now()) / (tried.length - index);
      try {
        return await openTo(address, options, Math.max(1, budgetMs));
      } catch (error) {
        onConnectError?.(error);
        failure = describeConnectError(error, hostname, protocol);
        if (failure.failure !== "connect_failed" && failure.failure !== "connect_timeout") throw failure;
      }
    }
    throw failure;
  }

  return {
    connect(options, callback) {
      open(options).then(
        (socket) => {
          limitWire(socket, maxWireBytes);
          endPauseWithConnection(socket);
          callback(null, socket);
        },
        (error: unknown) => {
          // A failing guard refuses.
          const unchecked = new ConnectFailure(
            "blocked",
            `The address of host ${options.hostname} could not be checked`,
          );
          callback(error instanceof ConnectFailure ? error : unchecked, null);
        },
      );
    },
    stop() {
      stopped = true;
      for (const socket of opening) socket.destroy(unwanted());
      opening.clear();
    },
  };
}

function obey(verdict: GuardVerdict): void {
  if (!verdict.allowed) throw new ConnectFailure("blocked", verdict.message);
}

function unwanted(): ConnectFailure {
  return new ConnectFailure("aborted", "The call ended before a connection was made");
}
