import cluster, { type Worker } from "node:cluster";
import type { Logger } from "pino";
import { type Begin, isMessage, type Scrape, type ToParent, type ToProcess } from "./messages.ts";
import { createQuestions } from "./questions.ts";
import { passOnUnanswered } from "./unanswered-connections.ts";

const FIRST_WAIT_MS = 100;
/** A longer wait would only delay the recovery. */
const LONGEST_WAIT_MS = 10_000;
/** A process that ran this long was healthy: its exit is a new failure. */
const HEALTHY_AFTER_MS = 60_000;
/** With the waits in between, about 6 s without a single process; then the operator must act. */
const STARTS_BEFORE_GIVING_UP = 6;

const LOOK_MS = 5_000;
/**
 * Checks without a message from a process. After 15 s it has lost its lease; one that is frozen for twice that keeps
 * its connections waiting. Checks are counted instead of seconds, because a suspended machine makes none.
 */
const SILENT_LOOKS = 6;

/** A busy process may need a moment; a scrape does not wait for a stuck one. */
const SCRAPE_MS = 1_000;

/** A process slot: all processes that ran under its number. */
interface Place {
  readonly number: number;
  worker: Worker | null;
  isReady: boolean;
  calls: number;
  workerId: number | null;
  silentLooks: number;
  beganMs: number;
  waitMs: number;
  /** The process's own reason why it did not start. */
  reason: string | null;
  replacing: NodeJS.Timeout | undefined;
}

export interface ProcessGroup {
  readonly url: string;
  callsUnderWay(): number;
  /** Tells all processes, including later ones, that the server's start is complete. */
  completeStart(): void;
  /** Resolves when no process runs and none can be started. */
  readonly hopeless: Promise<Error>;
  /** Stops all processes; resolves once they have exited. */
  stop(): Promise<void>;
  /** Repeats the signal, which aborts their calls. */
  hurry(): void;
}

/** The process's own reason why it did not start. */
export class NotStarted extends Error {
  override readonly name = "NotStarted";
}

/**
 * Runs a server as several processes that share a port. The parent accepts every connection and distributes them in
 * turn: otherwise the process that wakes first would take most of the simultaneous connections.
 *
 * A process that exits unexpectedly is replaced, also while the others still start. One that reports why it cannot
 * start ends the first start: the same cause affects the others, and the operator can read the reason.
 */
export function startProcessGroup(deps: {
  readonly processes: number;
  /** The file that each of them runs. */
  readonly file: string;
  readonly begin: (number: number) => Begin;
  /** The parent's own metrics. */
  readonly scrape: () => Promise<string>;
  readonly log: Logger;
}): Promise<ProcessGroup> {
  const { log } = deps;
  const places = Array.from({ length: deps.processes }, (_, index) => newPlace(index + 1));
  const scraping = createQuestions<string>(SCRAPE_MS);
  const hopeless = deferred<Error>();
  let isStarted = false;
  let isComplete = false;
  let isStopping = false;
  let failedStarts = 0;
  let started: (group: ProcessGroup) => void;
  let notStarted: (error: Error) => void;

  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: deps.file, args: [] });

  function launch(place: Place): void {
    const worker = cluster.fork();
    passOnUnanswered(worker.process, () => places.some((other) => other !== place && other.isReady));
    Object.assign(place, {
      worker,
      isReady: false,
      silentLooks: 0,
      reason: null,
      beganMs: performance.now(),
    });
    worker.on("message", (message: unknown) => {
      if (isMessage<ToParent>(message)) hear(place, message);
    });
    // The process may have exited; one that could not be spawned has no other event.
    worker.on("error", (err) => {
      log.warn({ of: String(place.number), err }, "process.error");
      if (worker.process.pid === undefined) ended(place, null, null);
    });
    worker.once("exit", (code, signal) => ended(place, code, signal));
  }

  function hear(place: Place, message: ToParent): void {
    place.silentLooks = 0;
    if (message.kind === "here") send(place, deps.begin(place.number));
    else if (message.kind === "ready") ready(place, message.url);
    else if (message.kind === "failed") place.reason = message.reason;
    else if (message.kind === "beat")
      Object.assign(place, { calls: message.calls, workerId: message.workerId });
    else if (message.kind === "scraped") scraping.answer(message.id, message.text);
    else if (message.kind === "hits")
      for (const other of places) {
        if (other !== place && other.isReady) send(other, message);
      }
    else void gather().then((scrapes) => send(place, { kind: "gathered", id: message.id, scrapes }));
  }

  function ready(place: Place, url: string): void {
    place.isReady = true;
    failedStarts = 0;
    log.info({ of: String(place.number), pid: place.worker?.process.pid }, "process.ready");
    if (isComplete) send(place, { kind: "started" });
    if (isStarted || !places.every(({ isReady }) => isReady)) return;
    isStarted = true;
    started({ url, callsUnderWay, completeStart, hopeless: hopeless.promise, stop, hurry });
  }

  function completeStart(): void {
    isComplete = true;
    for (const place of places) if (place.isReady) send(place, { kind: "started" });
  }

  function ended(place: Place, code: number | null, signal: string | null): void {
    const { worker, isReady, workerId, reason } = place;
    if (worker === null) return;
    Object.assign(place, { worker: null, isReady: false, calls: 0, workerId: null });
    if (isStopping) return;
    const pid = worker.process.pid;
    if (!isReady) failedStarts += 1;
    const isHopeless = reason !== null || failedStarts >= STARTS_BEFORE_GIVING_UP;
    if (!isStarted && isHopeless) {
      const how = signal === null ? `exit code ${code}` : signal;
      notStarted(
        new NotStarted(reason ?? `Bellhop could not start: its processes end before they are ready (${how})`),
      );
      return;
    }
    if (performance.now() - place.beganMs > HEALTHY_AFTER_MS) place.waitMs = FIRST_WAIT_MS;
    // A process that got SIGTERM by its pid exits normally.
    log[code === 0 ? "warn" : "error"](
      { of: String(place.number), pid, code, signal, reason, replacedInMs: place.waitMs },
      "process.ended",
    );
    if (workerId !== null) removeDeadWorker(workerId);
    if (failedStarts >= STARTS_BEFORE_GIVING_UP && places.every(({ isReady }) => !isReady)) {
      hopeless.resolve(new Error(reason ?? "Not one of Bellhop's processes can be started any more"));
      return;
    }
    place.replacing = setTimeout(() => launch(place), place.waitMs);
    place.waitMs = Math.min(place.waitMs * 2, LONGEST_WAIT_MS);
  }

  /** Other nodes would wait for the end of its lease. The parent knows that its child has exited. */
  function removeDeadWorker(workerId: number): void {
    const living = places.find(({ isReady }) => isReady);
    if (living !== undefined) send(living, { kind: "died", workerId });
  }

  function send({ worker }: Place, message: ToProcess): void {
    if (worker?.isConnected()) worker.send(message, undefined, undefined, () => {});
  }

  async function gather(): Promise<Scrape[]> {
    const own = { process: "parent", text: await deps.scrape() };
    const others = places.map(async (place) => ({
      process: String(place.number),
      text: place.isReady ? await scraping.ask((id) => send(place, { kind: "scrape", id })) : null,
    }));
    return [own, ...(await Promise.all(others))];
  }

  /** The other processes continue, and so does the health check of the port: only the parent detects a stuck one. */
  function lookForSilent(): void {
    for (const place of places) {
      if (!place.isReady || isStopping) continue;
      place.silentLooks += 1;
      if (place.silentLooks <= SILENT_LOOKS) continue;
      log.error({ of: String(place.number), pid: place.worker?.process.pid }, "process.stuck");
      place.worker?.process.kill("SIGKILL");
    }
  }

  function callsUnderWay(): number {
    return places.reduce((sum, { calls }) => sum + calls, 0);
  }

  function hurry(): void {
    for (const { worker } of places) worker?.process.kill("SIGTERM");
  }

  async function stop(): Promise<void> {
    isStopping = true;
    clearInterval(looking);
    for (const { replacing } of places) clearTimeout(replacing);
    const codes = await Promise.all(places.map(({ worker }) => (worker === null ? 0 : stopped(worker))));
    process.off("exit", killAll);
    if (codes.some((code) => code !== 0)) throw new Error("A process did not stop in order");
  }

  // If the parent exits without stop(), because of a bug or a hanging stop, no process is left behind.
  function killAll(): void {
    for (const { worker } of places) worker?.process.kill("SIGKILL");
  }

  process.on("exit", killAll);
  const looking = setInterval(lookForSilent, LOOK_MS);
  return new Promise<ProcessGroup>((resolve, reject) => {
    started = resolve;
    notStarted = (error) =>
      void stop().then(
        () => reject(error),
        () => reject(error),
      );
    for (const place of places) launch(place);
  });
}

/** Its exit code. A process that got the signal before it could handle it has stopped normally too. */
function stopped(worker: Worker): Promise<number> {
  return new Promise((resolve) => {
    worker.once("exit", (code, signal) =>
      resolve(signal === "SIGTERM" || signal === "SIGINT" ? 0 : (code ?? 1)),
    );
    worker.process.kill("SIGTERM");
  });
}

function newPlace(number: number): Place {
  return {
    number,
    worker: null,
    isReady: false,
    calls: 0,
    workerId: null,
    silentLooks: 0,
    beganMs: 0,
    waitMs: FIRST_WAIT_MS,
    reason: null,
    replacing: undefined,
  };
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
