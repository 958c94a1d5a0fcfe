import { Agent } from "undici";
import type { Call } from "../domain/call.ts";
import type { Outcome } from "../domain/outcome.ts";
import { createUnderWay } from "../domain/under-way.ts";
import type { AddressGuard } from "./address-guard.ts";
import { createConnector } from "./connector.ts";
import { createDnsLookup } from "./dns-lookup.ts";
import { answerEcho, ECHO_ORIGIN } from "./echo-target.ts";
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

/** Below the five seconds after which common servers close an idle connection: losing that race costs a call. */
const KEEP_ALIVE_MS = 4_000;

export interface CallerOptions {
  readonly userAgent: string;
  readonly guard: AddressGuard;
  /** Of the answer's body, as it comes, once decoded and as text. */
  readonly maxResponseBytes?: number;
  /** For DNS, TCP and TLS together. */
  readonly connectTimeoutMs?: number;
  /** Maximum bytes from a target per exchange. */
  readonly maxWireBytes?: number;
  readonly lookup?: Lookup;
  /** Receives the time of searching a team's long answers for secrets. */
  readonly onWork?: (teamId: number, ms: number) => void;
  /** Names of one team that are looked up at once. */
  readonly lookupsPerTeam?: number;
  /** Called for every failed connection. */
  readonly onConnectError?: (error: unknown) => void;
}

export interface SendOptions {
  /** The team, for its limits of calls in flight. */
  readonly teamId?: number;
  /** From now to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Bellhop's own headers; the call's headers override them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Inserted into the headers now, and removed from the answer. */
  readonly secrets?: CallSecrets;
  /** Aborting it destroys the call's socket at once. */
  readonly signal?: AbortSignal;
  /**
   * Receives the call when it starts, to abort only this one: a signal per call would cost more than the call's own
   * record.
   */
  readonly began?: (call: { stop(): void }) => void;
  /**
   * Reads the answer beyond the stored part and extracts values: the outcome contains them, with secrets. Few of these
   * are read at a time.
   */
  readonly readWhole?: ReadWhole | undefined;
  /**
   * Called right before the first byte is sent: a signal comes too late for a process that was frozen while it waited
   * for the connection.
   */
  readonly mayLeave?: () => boolean;
}

export interface Caller {
  /** Makes one call, once. Never rejects: every failure is an outcome. */
  call(call: Call, options: SendOptions): Promise<Outcome>;
  /**
   * The same, for an answer of which only a part is stored: its body still contains the secrets. Every stored part must
   * pass through `wipeText`.
   */
  callUnwiped(
    call: Call,
    options: SendOptions & { readonly secrets: CallSecrets },
  ): Promise<{ readonly outcome: Outcome; readonly wipeText: WipeText }>;
  /** Refuses new calls, waits for those in flight, then closes the idle connections. */
  stop(): Promise<void>;
  /** Aborts every call at once. Unsent calls are not sent. */
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
    // A target may request less, not more.
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Both are idle timers, which a slow drip outlives; each exchange has its own total deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const defaults = { "user-agent": userAgent, "accept-encoding": "identity" };
  // Tracked here: undici's agent forgets a pool whose first connection failed, with its waiting calls.
  const underWay = createUnderWay<Exchange>();
  const watched = new WeakSet<AbortSignal>();
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
      if (exchange.place !== null) underWay.remove(exchange.place);
      if (underWay.size === 0) onIdle();
    },
  };

  /**
   * One listener per signal for all its calls: a listener per call makes Node warn of a leak at the eleventh, and
   * iterate over all of them to add the next.
   */
  function watch(signal: AbortSignal): void {
    if (watched.has(signal)) return;
    watched.add(signal);
    const stopAll = () => {
      for (const exchange of underWay.all()) if (exchange.signal === signal) exchange.stop();
    };
    signal.addEventListener("abort", stopAll, { once: true });
  }

  function send(request: ExchangeRequest, options: SendOptions): Promise<Outcome> {
    return new Promise((resolve) => {
      const exchange = new Exchange(home, request, options, resolve);
      exchange.place = underWay.add(exchange);
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

  function makeCall({ url, method, headers, body, bytes }: Call, options: SendOptions): Promise<Outcome> {
    if (stopped || options.signal?.aborted === true) return refuse(STOPPED);
    const target = parseTarget(url);
    if (!target.valid) return refuse({ code: "invalid_request", message: target.message });
    const forbidden = findForbiddenHeader(headers);
    if (forbidden !== null) {
      return refuse({ code: "invalid_request", message: `The header ${forbidden} may not be set` });
    }
    const { origin, path } = target;
    const merged = mergeHeaders(defaults, options.headers, headers);
    if (origin === ECHO_ORIGIN) {
      if (options.mayLeave?.() === false) return refuse(STOPPED);
      return Promise.resolve(answerEcho(path, { method, body }, merged));
    }
    return send({ origin, path, method, headers: merged, body: bytes ?? body }, options);
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
      for (const exchange of underWay.all()) exchange.stop();
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
