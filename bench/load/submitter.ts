import { connect, type Socket } from "node:net";
import { takeMessage } from "./http-message.ts";
import type { LoadJob } from "./load-job.ts";

const answerLimitMs = 30_000;

type OnEnd = (seq: number, status: number) => void;

export interface Submitter {
  /** Sends one task; `onEnd` gets its status, 0 if there was no answer. */
  submit(seq: number, onEnd: OnEnd): void;
  stop(): void;
}

/** One keep-alive connection with at most one request in flight; connects again when the server has closed it. */
class Lane {
  readonly #url: URL;
  readonly #head: string;
  readonly #keyed: boolean;
  readonly #onFree: (lane: Lane) => void;
  #socket: Socket | undefined;
  #received = "";
  #seq = 0;
  #onEnd: OnEnd | undefined;

  constructor(url: URL, { headers, keyed }: LoadJob, onFree: (lane: Lane) => void) {
    this.#url = url;
    this.#keyed = keyed;
    this.#head = [
      `POST ${url.pathname} HTTP/1.1`,
      `host: ${url.host}`,
      "content-type: application/json",
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ].join("\r\n");
    this.#onFree = onFree;
  }

  send(body: string, seq: number, onEnd: OnEnd): void {
    this.#seq = seq;
    this.#onEnd = onEnd;
    this.#socket ??= this.#connect();
    const key = this.#keyed ? `\r\nidempotency-key: ${keyFor(seq)}` : "";
    this.#socket.write(`${this.#head}${key}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  stop(): void {
    this.#onEnd = undefined;
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true });
    socket.setEncoding("latin1");
    socket.setTimeout(answerLimitMs, () => socket.destroy());
    socket.on("data", (chunk: string) => this.#receive(chunk));
    // An error is always followed by close.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#socket = undefined;
      this.#received = "";
      this.#end(0);
    });
    return socket;
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    const answer = takeMessage(this.#received);
    if (answer === undefined) return;
    this.#received = answer.rest;
    this.#end(Number(answer.start.split(" ", 2)[1]));
  }

  #end(status: number): void {
    const onEnd = this.#onEnd;
    if (onEnd === undefined) return;
    this.#onEnd = undefined;
    this.#onFree(this);
    onEnd(this.#seq, status);
  }
}

/** As long as the SDK's, which are random: keys in rising order would be cheaper to index. A task sent again keeps its own. */
function keyFor(seq: number): string {
  const scattered = Math.imul(seq + 1, 0x9e3779b1) >>> 0;
  return `${scattered.toString(16).padStart(8, "0")}-0000-4000-8000-${String(seq).padStart(12, "0")}`;
}

export function createSubmitter(job: LoadJob): Submitter {
  const urls = job.submitUrls.map((url) => new URL(url));
  const waiting: (() => void)[] = [];
  const free: Lane[] = [];
  const lanes = Array.from({ length: job.connections }, (_, index) => {
    const url = urls[index % urls.length];
    if (url === undefined) throw new Error("a job must name where to submit");
    return new Lane(url, job, onFree);
  });
  free.push(...lanes);

  function onFree(lane: Lane): void {
    free.push(lane);
    waiting.shift()?.();
  }

  function submit(seq: number, onEnd: OnEnd): void {
    const lane = free.pop();
    if (lane === undefined) {
      waiting.push(() => submit(seq, onEnd));
      return;
    }
    const pieces = job.bodies[seq % job.bodies.length] ?? [];
    lane.send(pieces.join(String(seq)), seq, onEnd);
  }

  return {
    submit,
    stop() {
      for (const lane of lanes) lane.stop();
    },
  };
}
