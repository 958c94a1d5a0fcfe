import { performance } from "node:perf_hooks";
import type { Agent, Dispatcher } from "undici";
import type { LookedUp } from "../domain/json/look-up.ts";
import type { CallResponse, Outcome, Phase } from "../domain/outcome.ts";
import type { Place } from "../domain/under-way.ts";
import { Answer } from "./answer.ts";
import { readErrorCode } from "./error-code.ts";
import {
  describeDeadline,
  describeError,
  type NetworkFailure,
  STOPPED,
  TOO_MUCH,
} from "./exchange-failure.ts";
import { LARGE_ANSWER_BYTES, type LargeAnswers } from "./large-answers.ts";
import type { WaitingCalls } from "./waiting-calls.ts";
import { MAX_INTERIM_ANSWERS } from "./wire-limit.ts";

/**
 * One call, from dispatch to its only outcome. Several events race to end it (the last byte, the deadline, the signal,
 * a broken socket, the stop of the process): the first wins, the others find it settled. A class instead of a closure:
 * one object per call is undici's handler and the timer's argument.
 */

/** Node fires immediately for a longer timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** An idle socket may close under a waiting call. Each further try uses another socket. */
const MAX_UNSENT_RETRIES = 3;
const IDLE_SOCKET_DIED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ETIMEDOUT"]);

/** Only closes the socket and is never read: one shared error avoids a stack per call. */
const LET_GO = new Error("let go");

export interface ExchangeRequest extends Dispatcher.DispatchOptions {
  readonly origin: string;
}

/** Shared by all exchanges of one caller. */
export interface ExchangeHome {
  readonly agent: Agent;
  readonly maxResponseBytes: number;
  readonly largeAnswers: LargeAnswers;
  readonly waiting: WaitingCalls;
  /** Called once per exchange, right before its outcome is told. */
  forget(exchange: Exchange): void;
}

/** Extracts the values that a task needs from an answer. Never rejects. */
export type ReadWhole = (body: string) => LookedUp | Promise<LookedUp>;

/** As a call is given to the caller. */
interface ExchangeOptions {
  readonly teamId?: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly readWhole?: ReadWhole | undefined;
  readonly mayLeave?: () => boolean;
}

export class Exchange implements Dispatcher.DispatchHandler {
  /** Its place among all of its caller, which sets it. */
  place: Place<Exchange> | null = null;
  readonly signal: AbortSignal | undefined;
  readonly #home: ExchangeHome;
  readonly #request: ExchangeRequest;
  readonly #teamId: number;
  readonly #timeoutMs: number;
  readonly #readWhole: ReadWhole | undefined;
  readonly #mayLeave: (() => boolean) | undefined;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | null = null;
  #phase: Phase = "not_sent";
  #connectMs: number | undefined;
  #answerBegan = false;
  #answer: Answer | null = null;
  #unsentRetries = 0;
  #interimAnswers = 0;
  #turn: "none" | "asked" | "held" = "none";
  #ended = false;
  #told = false;

  constructor(
    home: ExchangeHome,
    request: ExchangeRequest,
    options: ExchangeOptions,
    resolve: (outcome: Outcome) => void,
  ) {
    this.#home = home;
    this.#request = request;
    this.#teamId = options.teamId ?? 0;
    this.#timeoutMs = options.timeoutMs;
    this.#mayLeave = options.mayLeave;
    this.signal = options.signal;
    this.#readWhole = options.readWhole;
    this.#resolve = resolve;
  }

  start(): void {
    this.#timer = setTimeout(expire, Math.min(this.#timeoutMs, MAX_TIMER_MS), this);
    this.#home.waiting.enter(this.#request.origin, this.#teamId);
    this.#dispatch();
  }

  /** The deadline passed. */
  expire(): void {
    this.#cut(describeDeadline(this.#phase, this.#timeoutMs));
  }

  /** Aborts the call and destroys its socket. A call that still waits for its connection is not sent. */
  stop(): void {
    this.#cut(STOPPED);
  }

  /**
   * Undici calls this right before it writes the first byte. Guarantee: a call with an outcome is never sent
   * afterwards, and no call is sent twice.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#mayLeave?.() === false) this.stop();
    if (this.#ended || this.#phase !== "not_sent") {
      controller.abort(LET_GO);
      return;
    }
    this.#controller = controller;
    this.#phase = "sent";
    this.#connectMs = this.#elapsedMs();
    this.#home.waiting.leave(this.#request.origin, this.#teamId);
  }

  onResponseStarted(): void {
    this.#answerBegan = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#answerBegan = false;
    if (this.#ended) return;
    if (statusCode < 200) {
      // The final answer is still to come, but not after any number of interim ones.
      this.#interimAnswers += 1;
      if (this.#interimAnswers > MAX_INTERIM_ANSWERS) this.#cut(TOO_MUCH);
      return;
    }
    this.#phase = "responded";
    const { maxResponseBytes } = this.#home;
    this.#answer = new Answer(
      statusCode,
      headers,
      this.#readWhole === undefined ? maxResponseBytes : LARGE_ANSWER_BYTES,
      this.#connectMs ?? 0,
      this.#elapsedMs(),
    );
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended || this.#answer === null) return;
    if (!this.#answer.append(chunk)) {
      this.#complete(true);
      controller.abort(LET_GO);
    } else if (
      this.#readWhole !== undefined &&
      this.#turn === "none" &&
      this.#answer.size > this.#home.maxResponseBytes
    ) {
      controller.pause();
      void this.#takeTurn().then(() => {
        if (!this.#ended) controller.resume();
      });
    }
  }

  onResponseEnd(): void {
    this.#complete(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#ended) return;
    const code = readErrorCode(error);
    if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" && isBodiless(this.#answer)) {
      // A 304 may state the length that the full answer would have had; undici takes that for a cut.
      this.#complete(false);
      return;
    }
    if (
      this.#phase === "not_sent" &&
      IDLE_SOCKET_DIED.has(code) &&
      this.#unsentRetries < MAX_UNSENT_RETRIES
    ) {
      this.#unsentRetries += 1;
      // Deferred: undici is emptying the queue that this would be added to.
      setImmediate(() => this.#dispatch());
      return;
    }
    this.#fail(describeError(error, { phase: this.#phase, answerBegan: this.#answerBegan }));
  }

  #dispatch(): void {
    if (this.#ended) return;
    this.#home.agent.dispatch(this.#request, this);
  }

  #cut(reason: NetworkFailure): void {
    if (this.#ended) return;
    this.#fail(reason);
    this.#controller?.abort(LET_GO);
  }

  #fail({ code, message }: NetworkFailure): void {
    this.#tell({
      kind: "failure",
      code,
      message,
      phase: this.#phase,
      statusCode: this.#answer?.statusCode ?? null,
      ...(this.#connectMs !== undefined && { connectMs: this.#connectMs }),
      ...(this.#answer !== null && { firstByteMs: this.#answer.firstByteMs }),
      durationMs: this.#end(),
    });
  }

  #complete(cut: boolean): void {
    if (this.#ended || this.#answer === null) return;
    const answer = this.#answer;
    const durationMs = this.#end();
    // A small answer may be large once decoded.
    const response =
      this.#readWhole !== undefined && answer.isEncoded && this.#turn === "none"
        ? this.#takeTurn().then(() => answer.read(cut, durationMs))
        : answer.read(cut, durationMs);
    // Its bytes are not needed any more.
    this.#answer = null;
    if (response instanceof Promise) void response.then((decoded) => this.#read(decoded));
    else this.#read(response);
  }

  /** A large answer keeps its turn until its values are extracted. */
  #read(response: CallResponse): void {
    const found = this.#readWhole?.(response.body);
    if (found === undefined) this.#tell(response);
    else if (found instanceof Promise) void found.then((later) => this.#tell({ ...response, found: later }));
    else this.#tell({ ...response, found });
  }

  async #takeTurn(): Promise<void> {
    this.#turn = "asked";
    await this.#home.largeAnswers.enter(this.#teamId);
    if (this.#told) this.#home.largeAnswers.leave();
    else this.#turn = "held";
  }

  #tell(outcome: Outcome): void {
    this.#told = true;
    if (this.#turn === "held") this.#home.largeAnswers.leave();
    this.#home.forget(this);
    this.#resolve(outcome);
  }

  /** From here on nothing changes the outcome. Returns how long the call took. */
  #end(): number {
    this.#ended = true;
    clearTimeout(this.#timer);
    if (this.#phase === "not_sent") this.#home.waiting.leave(this.#request.origin, this.#teamId);
    return this.#elapsedMs();
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }
}

function expire(exchange: Exchange): void {
  exchange.expire();
}

function isBodiless(answer: Answer | null): boolean {
  return answer?.statusCode === 204 || answer?.statusCode === 304;
}
