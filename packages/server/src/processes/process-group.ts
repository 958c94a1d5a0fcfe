import cluster, { type Worker } from "node:cluster";
import type { Logger } from "pino";
import { type Begin, isMessage, type Scrape, type ToParent, type ToProcess } from "./messages.ts";
import { createQuestions } from "./questions.ts";

const FIRST_WAIT_MS = 100;
/** Beyond this, waiting longer only delays the recovery that an operator has just made possible. */
const LONGEST_WAIT_MS = 10_000;
/** A process that lived this long was healthy: its death is a new misfortune, not the same one again. */
const HEALTHY_AFTER_MS = 60_000;
/** With the waits between them some 6 s without a single process: what has not passed by then is for the operator. */
const STARTS_BEFORE_GIVING_UP = 6;

const LOOK_MS = 5_000;
/**
 * Looks between which a process has not said a word. After 15 s it has lost its lease; one that stands still for twice that
 * keeps its connections waiting for nothing. Looks are counted, not seconds: a machine that slept has missed none.
 */
const SILENT_LOOKS = 6;

/** A busy process may need a moment; a scraper does not wait for a stuck one. */
const SCRAPE_MS = 1_000;

/** One of the processes, over all lives under its number. */
interface Place {
  readonly number: number;
  worker: Worker | null;
  isReady: boolean;
  calls: number;
  workerId: number | null;
  silentLooks: number;
  beganMs: number;
  waitMs: number;
  /** Why it did not start, as it said itself. */
  reason: string | null;
  replacing: NodeJS.Timeout | undefined;
}

export interface ProcessGroup {
  readonly url: string;
  callsUnderWay(): number;
  /** Tells all of them, and each that comes later, that the start of the server is complete. */
  completeStart(): void;
  /** Resolves when not one process runs and none can be started. */
  readonly hopeless: Promise<Error>;
  /** Tells all of them to stop; resolves once they have. */
  stop(): Promise<void>;
  /** Tells them again, which ends their calls. */
  hurry(): void;
}

/** Why a process did not start, in its own words. */
export class NotStarted extends Error {
  override readonly name = "NotStarted";
}

/**
 * Runs a server as several processes that share a port. The parent takes every connection and hands them out in turn:
 * left to the system, the process that wakes first would take most of those that come at once, and keep them.
 *
 * A process that ends unasked is replaced, also while the others still start. One that says why it cannot start ends the first
 * start: what keeps one from it keeps the others too, and the operator is there to read why.
 */
export function startProcessGroup(deps: {
  readonly processes: number;
  /** The file that each of them runs. */
  readonly file: string;
  readonly begin: (number: number) => Begin;
  /** What the parent itself counts. */
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
    // A process that is not there any more; but one that could not be made at all has no other event.
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
    // One that was told to stop, by its pid, ends in order.
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

  /** Others would wait for the end of its lease, because they cannot know. We do: it was our child, and is no more. */
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

  /** The other processes go on, and so does the health check of the port: only the parent notices one that is stuck. */
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

  // When the parent leaves without stop(), by a bug or because the stop hangs, no process stays behind.
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

/** Its exit code. A process that the signal met before it could listen to it has stopped in order too. */
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
