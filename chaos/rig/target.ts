import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { parseTaskId } from "../../packages/server/src/domain/task-id.ts";
import type { Seen } from "../checker/history.ts";
import { answerTo } from "../checker/values.ts";
import { type Behaviour, type Draft, isBehaviour, misbehave } from "./behaviours.ts";
import { now } from "./clock.ts";
import { nonceOf, noncesOf, parse, resultValue } from "./nonces.ts";
import { isRecord } from "./task-requests.ts";

export interface Target {
  readonly url: string;
  readonly seen: readonly Seen[];
  stop(): Promise<void>;
}

/**
 * The other end of every call: it does what the URL tells it to and writes down what it saw. `/call/<behaviour>` with
 * `ms` and `until`: up to that attempt it behaves so, and well from then on. `/poll/<task>`, `/told`.
 */
export async function startTarget(): Promise<Target> {
  const seen: Draft[] = [];
  const polls = new Map<string, number>();
  const notifications = new Map<string, number>();

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const url = new URL(request.url ?? "/", "http://target");
    const [, kind, name = ""] = url.pathname.split("/");
    request.on("error", () => {});
    response.on("error", () => {});
    if (kind === "call") void answerCall(request, response, name, url.searchParams);
    else if (kind === "poll") answerPoll(request, response, name, url.searchParams);
    else void answerTelling(request, response);
  });
  server.on("clientError", (_, socket) => socket.destroy());

  function note(response: ServerResponse, draft: Pick<Seen, "kind" | "taskId" | "attempt">): Draft {
    const entry: Draft = {
      ...draft,
      begunAt: now(),
      endedAt: null,
      endedBy: null,
      status: null,
      whole: "no",
      says: null,
      nonces: [],
      value: null,
    };
    seen.push(entry);
    response.once("close", () => {
      if (entry.endedAt !== null) return;
      entry.endedAt = now();
      entry.endedBy = "caller";
    });
    return entry;
  }

  async function answerCall(
    request: IncomingMessage,
    response: ServerResponse,
    behaviour: string,
    parameters: URLSearchParams,
  ): Promise<void> {
    const publicId = String(request.headers["bellhop-task-id"]);
    const attempt = Number(request.headers["bellhop-attempt"]);
    const entry = note(response, { kind: "call", taskId: parseTaskId(publicId) ?? publicId, attempt });
    const text = await readWhole(request);
    // Hung up before all of it was there: that is the end of it.
    if (text === null) return;
    const nonce = nonceOf(parse(text));
    entry.nonces = [parameters.get("nonce") ?? "", nonce];
    entry.value = answerTo(nonce, attempt);
    const isGood = attempt > Number(parameters.get("until") ?? 0) || !isBehaviour(behaviour);
    const ms = Number(parameters.get("ms") ?? 0);
    const chosen: Behaviour = isGood ? "ok" : behaviour;
    misbehave(chosen, {
      response,
      entry,
      ms,
      body: JSON.stringify({ id: entry.taskId, value: entry.value }),
    });
  }

  function answerPoll(
    request: IncomingMessage,
    response: ServerResponse,
    taskId: string,
    parameters: URLSearchParams,
  ): void {
    const entry = note(response, { kind: "poll", taskId, attempt: null });
    request.resume();
    const count = (polls.get(taskId) ?? 0) + 1;
    polls.set(taskId, count);
    const isOver = count > Number(parameters.get("polls") ?? 1);
    entry.says = isOver ? (parameters.get("end") ?? "done") : "processing";
    entry.value = `${parameters.get("nonce")}@${taskId}:${count}`;
    const body = JSON.stringify({ status: entry.says, value: entry.value });
    misbehave("ok", { response, entry, ms: 0, body });
  }

  /** Every tenth receiver is not there the first time. */
  async function answerTelling(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const begunAt = now();
    const text = await readWhole(request);
    if (text === null) return;
    const { type, taskId, task } = readTelling(text);
    const entry = note(response, { kind: "notification", taskId, attempt: null });
    entry.begunAt = begunAt;
    entry.says = type;
    entry.nonces = noncesOf(task);
    entry.value = resultValue(task);
    const count = (notifications.get(taskId) ?? 0) + 1;
    notifications.set(taskId, count);
    const isAway = count === 1 && taskId.endsWith("7");
    misbehave(isAway ? "error" : "ok", { response, entry, ms: 0, body: "{}" });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function readTelling(text: string): { type: string; taskId: string; task: unknown } {
  const body = parse(text);
  const task = isRecord(body) && isRecord(body.data) ? body.data.task : null;
  const id = isRecord(task) ? String(task.id) : "";
  return { type: isRecord(body) ? String(body.type) : "", taskId: parseTaskId(id) ?? id, task };
}

/** Null where the caller hung up before the end. */
function readWhole(request: IncomingMessage): Promise<string | null> {
  return new Promise((resolve) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => resolve(text));
    request.on("close", () => resolve(null));
  });
}
