import { Agent } from "undici";
import type { Call } from "../domain/call.ts";
import type { Outcome } from "../domain/outcome.ts";
import { createUnderWay } from "../domain/under-way.ts";
import type { AddressGuard } from "./address-guard.ts";
import { createConnector } from "./connector.ts";
import { createDnsLookup } from "./dns-lookup.ts";
import { Exchange, type ExchangeHome, type ExchangeRequest, type ReadWhole } from "./exchange.ts";
import { MAX_HEADER_BYTES, type NetworkFailure, STOPPED } from "./exchange-failure.ts";
import { findForbiddenHeader, mergeHeaders } from "./headers.ts";
import { createLargeAnswers } from "./large-answers.ts";
import { createLookupLine } from "./lookup-line.ts";
import { LOOKUPS_PER_TEAM, type Lookup } from "./name-resolver.ts";
import { type CallSecrets, createSecretWiper, type WipeText, withCredentials } from "./secret-call.ts";
import { parseTarget } from "./target.ts";
import { createWaitingCalls } from "./waiting-calls.ts";
import { createWiping } from "./wiping.ts";
import { MAX_WIRE_BYTES } from "./wire-limit.ts";

/** Below the five seconds after which common servers close an idle connection: the loser of that race is a call. */
const KEEP_ALIVE_MS = 4_000;

export interface CallerOptions {
  readonly userAgent: string;
  readonly guard: AddressGuard;
  /** Of the answer's body, as it comes, once decoded and as text. */
  readonly maxResponseBytes?: number;
  /** For the name, TCP and TLS together. */
  readonly connectTimeoutMs?: number;
  /** Bytes that a target may send for one exchange, all in all. */
  readonly maxWireBytes?: number;
  readonly lookup?: Lookup;
  /** Told of the time that the search for secrets in a team's long answers takes. */
  readonly onWork?: (teamId: number, ms: number) => void;
  /** Names of one team that are looked up at once. */
  readonly lookupsPerTeam?: number;
  /** Told of every connection that could not be opened. */
  readonly onConnectError?: (error: unknown) => void;
}

export interface SendOptions {
  /** Whose call it is: what a team may have under way at once is counted by it. */
  readonly teamId?: number;
  /** From now to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Bellhop's own; the call's headers win over these. */
  readonly headers: Readonly<Record<string, string>>;
  /** Put into the headers now, and wiped from whatever comes back. */
  readonly secrets?: CallSecrets;
  /** Aborted, it destroys the call's socket at once. */
  readonly signal?: AbortSignal;
  /** Is given the call as it begins, to end it alone: a signal for each call would cost more than the call's own record. */
  readonly began?: (call: { stop(): void }) => void;
  /**
   * Read as much as can be, instead of what is kept of other answers, and look into it: what was found is in the outcome, with secrets
   * and all. Few of these are read at a time.
   */
  readonly readWhole?: ReadWhole | undefined;
  /**
   * Asked right before the first byte leaves: a signal comes too late for a process that was frozen while it waited for
   * the connection.
   */
  readonly mayLeave?: () => boolean;
}

export interface Caller {
  /** Makes one call, once. Never rejects: whatever goes wrong is an outcome. */
  call(call: Call, options: SendOptions): Promise<Outcome>;
  /**
   * The same, for an answer of which only a part will be kept: its body still has the secrets in it. Nothing of it may be
   * recorded that was not wiped by `wipeText`.
   */
  callUnwiped(
    call: Call,
    options: SendOptions & { readonly secrets: CallSecrets },
  ): Promise<{ readonly outcome: Outcome; readonly wipeText: WipeText }>;
  /** Refuses new calls, waits for those under way, then closes the idle connections. */
  stop(): Promise<void>;
  /** Ends every call at once. What has not been sent by now will not be sent. */
  destroy(): void;
}

export function createCaller({
  userAgent,
  guard,
  maxResponseBytes = 1_048_576,
  connectTimeoutMs = 10_000,
  maxWireBytes = MAX_WIRE_BYTES,
  lookup = createDnsLookup(),
  lookupsPerTeam = LOOKUPS_PER_TEAM.dns,
  onWork = () => {},
  onConnectError,
}: CallerOptions): Caller {
  const waiting = createWaitingCalls();
  const names = createLookupLine({ lookup, perTeam: lookupsPerTeam, patienceMs: connectTimeoutMs });
  const connector = createConnector({
    guard,
    connectTimeoutMs,
    maxWireBytes,
    names,
    waiting,
    onConnectError,
  });
  const agent = new Agent({
    connect: connector.connect,
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A target may ask for less, not for more.
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Both are idle timers that a drip outlives; each exchange has its own total deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const defaults = { "user-agent": userAgent, "accept-encoding": "identity" };
  // Not left to the agent: it forgets a pool whose first connection failed, with the calls that still wait in it.
  const underWay = createUnderWay<number, Exchange>();
  const watched = new WeakSet<AbortSignal>();
  let begun = 0;
  const wiping = createWiping({ onWork });
  let stopped = false;
  let stopping: Promise<void> | null = null;
  let onIdle = (): void => {};

  const home: ExchangeHome = {
    agent,
    maxResponseBytes,
    largeAnswers: createLargeAnswers(),
    waiting,
    forget(exchange) {
      underWay.delete(exchange.number);
      if (underWay.size === 0) onIdle();
    },
  };

  /**
   * One listener per signal however many calls share it: a listener per call makes Node warn of a leak at the eleventh, and
   * walk through all of them to add the next.
   */
  function watch(signal: AbortSignal): void {
    if (watched.has(signal)) return;
    watched.add(signal);
    const stopAll = () => {
      for (const exchange of underWay.values) if (exchange.signal === signal) exchange.stop();
    };
    signal.addEventListener("abort", stopAll, { once: true });
  }

  function send(request: ExchangeRequest, options: SendOptions): Promise<Outcome> {
    return new Promise((resolve) => {
      begun += 1;
      const exchange = new Exchange(begun, home, request, options, resolve);
      underWay.set(begun, exchange);
      if (options.signal !== undefined) watch(options.signal);
      options.began?.(exchange);
      exchange.start();
    });
  }

  async function drain(): Promise<void> {
    stopped = true;
    if (underWay.size > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    connector.stop();
    lookup.cancel?.();
    await agent.destroy();
  }

  function makeCall({ url, method, headers, body }: Call, options: SendOptions): Promise<Outcome> {
    if (stopped || options.signal?.aborted === true) return refuse(STOPPED);
    const target = parseTarget(url);
    if (!target.valid) return refuse({ code: "invalid_request", message: target.message });
    const forbidden = findForbiddenHeader(headers);
    if (forbidden !== null) {
      return refuse({ code: "invalid_request", message: `The header ${forbidden} may not be set` });
    }
    const { origin, path } = target;
    const merged = mergeHeaders(defaults, options.headers, headers);
    return send({ origin, path, method, headers: merged, body }, options);
  }

  return {
    call(call, options) {
      const { secrets, teamId = 0 } = options;
      if (secrets === undefined) return makeCall(call, options);
      return makeCall(withCredentials(call, secrets), options).then(
        createSecretWiper(secrets, wiping, teamId).wipeOutcome,
      );
    },
    async callUnwiped(call, options) {
      const { secrets, teamId = 0 } = options;
      const outcome = await makeCall(withCredentials(call, secrets), options);
      const { wipeSmall, wipeText } = createSecretWiper(secrets, wiping, teamId);
      return { outcome: await wipeSmall(outcome), wipeText };
    },
    stop() {
      stopping ??= drain();
      return stopping;
    },
    destroy() {
      stopped = true;
      for (const exchange of underWay.values) exchange.stop();
      connector.stop();
      lookup.cancel?.();
      void agent.destroy();
    },
  };
}

function refuse({ code, message }: NetworkFailure): Promise<Outcome> {
  return Promise.resolve({
    kind: "failure",
    code,
    message,
    phase: "not_sent",
    statusCode: null,
    durationMs: 0,
  });
}
