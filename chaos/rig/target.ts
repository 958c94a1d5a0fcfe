import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { parseTaskId } from "../../packages/server/src/domain/task-id.ts";
import type { Seen } from "../checker/history.ts";
import { answerTo } from "../checker/values.ts";
import { type CallScene, type Draft, isBehaviour, misbehave } from "./behaviours.ts";
import { headersToNote } from "./canaries.ts";
import { now } from "./clock.ts";
import { nonceOf, noncesOf, parse, resultValue } from "./nonces.ts";
import { isRecord } from "./task-requests.ts";

export interface Target {
  readonly url: string;
  /** The same under another address, where every call fails while it is sick. */
  readonly fragileUrl: string;
  setSick(isSick: boolean): void;
  readonly seen: readonly Seen[];
  stop(): Promise<void>;
}

/**
 * The other end of every call: it does what the URL tells it to and writes down what it saw. `/call/<behaviour>` with
 * `ms` and `until`: up to that attempt it behaves so, and well from then on. `/call/gather` with `group` and `of`: it answers when so
 * many of the group are there. `/poll/<task>`, `/told`.
 */
export async function startTarget(): Promise<Target> {
  const seen: Draft[] = [];
  const polls = new Map<string, number>();
  const notifications = new Map<string, number>();

  const gathered = new Map<string, CallScene[]>();
  let isSick = false;
  const [server, fragile] = [false, true].map((isFragile) =>
    createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      const url = new URL(request.url ?? "/", "http://target");
      const [, kind, name = ""] = url.pathname.split("/");
      request.on("error", () => {});
      response.on("error", () => {});
      if (kind === "call")
        void answerCall(request, response, isFragile && isSick ? "sick" : name, url.searchParams);
      else if (kind === "poll") answerPoll(request, response, name, url.searchParams);
      else void answerTelling(request, response);
    }).on("clientError", (_, socket) => socket.destroy()),
  ) as [Server, Server];

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
    Object.assign(entry, headersToNote(request.headers, text ?? ""));
    if (text === null) return;
    const nonce = nonceOf(parse(text));
    entry.nonces = [parameters.get("nonce") ?? "", nonce];
    entry.value = answerTo(nonce, attempt);
    const ms = Number(parameters.get("ms") ?? 0);
    const echoed = parameters.has("echo") ? echo(String(request.headers.authorization)) : {};
    const body = JSON.stringify({ id: entry.taskId, value: entry.value, ...echoed });
    const scene = { response, entry, ms, body };
    const isGood = attempt > Number(parameters.get("until") ?? 0) || !isBehaviour(behaviour);
    if (behaviour === "sick") misbehave("error", scene);
    else if (behaviour === "gather") gather(scene, parameters);
    else misbehave(isGood ? "ok" : behaviour, scene);
  }

  function gather(scene: CallScene, parameters: URLSearchParams): void {
    const group = parameters.get("group") ?? "";
    const there = [...(gathered.get(group) ?? []), scene].filter(({ response }) => !response.destroyed);
    gathered.set(group, there);
    if (there.length >= Number(parameters.get("of"))) for (const each of there) misbehave("ok", each);
  }

  function answerPoll(
    request: IncomingMessage,
    response: ServerResponse,
    taskId: string,
    parameters: URLSearchParams,
  ): void {
    const entry = note(response, { kind: "poll", taskId, attempt: null });
    Object.assign(entry, headersToNote(request.headers, ""));
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
    Object.assign(entry, headersToNote(request.headers, text));
    entry.begunAt = begunAt;
    entry.says = type;
    entry.nonces = noncesOf(task);
    entry.value = resultValue(task);
    const count = (notifications.get(taskId) ?? 0) + 1;
    notifications.set(taskId, count);
    const isAway = count === 1 && taskId.endsWith("7");
    misbehave(isAway ? "error" : "ok", { response, entry, ms: 0, body: "{}" });
  }

  return {
    url: await listen(server),
    fragileUrl: await listen(fragile),
    seen,
    setSick(value) {
      isSick = value;
    },
    async stop() {
      for (const each of [server, fragile]) {
        each.closeAllConnections();
        await new Promise<void>((resolve) => each.close(() => resolve()));
      }
    },
  };
}

/** Returns its URL. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

/** What a careless target answers: the credential that it was called with. */
function echo(credential: string): object {
  return { got: credential, encoded: Buffer.from(credential).toString("base64") };
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
