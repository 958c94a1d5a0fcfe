import cluster from "node:cluster";
import { createHitExchange, type HitLines } from "./hits.ts";
import { type Begin, isMessage, type Scrape, type ToParent, type ToProcess } from "./messages.ts";
import { createQuestions } from "./questions.ts";

/** Well below the time after which the parent considers a process stuck. */
const BEAT_MS = 5_000;
/** Longer than the parent waits for the slowest process, and less than any scraper waits. */
const GATHER_MS = 2_000;

/** The operations of a process that other processes may need. */
export interface Work {
  readonly url: string;
  callsUnderWay(): number;
  /** Null where it makes no calls. */
  workerId(): number | null;
  /** Its own metrics. */
  scrape(): Promise<string>;
  /** Releases the claims of a dead worker. */
  removeDeadWorker(workerId: number): Promise<void>;
}

/** This process, as one of several. */
export interface Member extends Begin {
  /** The metrics of all processes. Null if the parent does not answer. */
  gather(): Promise<readonly Scrape[] | null>;
  /** The hits of a source over all processes. */
  readonly hitLines: HitLines;
  /** False until all processes run and the start of the server is complete. */
  isServerStarted(): boolean;
  /** Reports that it serves. */
  ready(work: Work): void;
  /** Reports that it cannot start; the parent prints the reason once. */
  failed(reason: string): void;
  /** Reports that it has stopped; only the channel to the parent is open. */
  leave(): void;
}

/** Waits for the parent's first message. Without a parent the process exits. */
export async function joinParent(): Promise<Member> {
  const gathering = createQuestions<readonly Scrape[]>(GATHER_MS);
  const exchange = createHitExchange((hits) => send({ kind: "hits", hits }));
  let work: Work | null = null;
  let beating: NodeJS.Timeout | undefined;
  let isServerStarted = false;

  async function tellScrape(id: number): Promise<void> {
    if (work !== null) send({ kind: "scraped", id, text: await work.scrape() });
  }

  function hear(message: ToProcess): void {
    if (message.kind === "scrape") void tellScrape(message.id);
    else if (message.kind === "gathered") gathering.answer(message.id, message.scrapes);
    else if (message.kind === "hits") exchange.hear(message.hits);
    else if (message.kind === "started") isServerStarted = true;
    else if (message.kind === "died") void work?.removeDeadWorker(message.workerId);
  }

  function beat({ callsUnderWay, workerId }: Work): void {
    send({ kind: "beat", calls: callsUnderWay(), workerId: workerId() });
  }

  const begin = await new Promise<Begin>((resolve) => {
    process.on("message", (message: unknown) => {
      if (!isMessage<ToProcess>(message)) return;
      if (message.kind === "begin") resolve(message);
      else hear(message);
    });
    send({ kind: "here" });
  });
  return {
    ...begin,
    hitLines: exchange.lines,
    isServerStarted: () => isServerStarted,
    gather: () => gathering.ask((id) => send({ kind: "gather", id })),
    ready(done) {
      work = done;
      beat(done);
      send({ kind: "ready", url: done.url });
      beating = setInterval(() => beat(done), BEAT_MS);
    },
    failed: (reason) => send({ kind: "failed", reason }),
    leave() {
      clearInterval(beating);
      cluster.worker?.disconnect();
    },
  };
}

/** The parent may have just exited. */
function send(message: ToParent): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
