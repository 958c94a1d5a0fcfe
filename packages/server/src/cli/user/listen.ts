import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { ApiError, type Bellhop, type BellhopEvent, signWebhook, type Task, toWire } from "../sdk.ts";
import { printable } from "../table.ts";
import { atPath, type Forwarded, forward } from "./forward.ts";
import { collect, readInteger } from "./option-values.ts";
import { given, type ServerOptions, serverCommand, type User } from "./user.ts";

interface ListenOptions extends ServerOptions {
  readonly forward: string;
  readonly calls?: true;
  readonly queue?: string;
  readonly tag?: string;
  readonly type?: readonly string[];
  readonly count?: number;
}

/** A request as Bellhop would have made it, but for where it goes. */
interface Outgoing {
  /** Under the address to forward to. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The signature's. */
  readonly id: string;
}

/**
 * Forwards what a remote server would send to a port of this machine, which that server cannot reach. Each request is re-signed,
 * so the endpoint verifies it as it verifies every other.
 */
export function addListenCommand(program: Command, user: User): void {
  serverCommand(program, "listen", "send a server's events to an endpoint on this machine, until Ctrl-C")
    .requiredOption("--forward <url>", "the endpoint, such as http://localhost:3000/hooks")
    .option("--calls", "with a test key: make the calls of its tasks too, at the path of each task's URL")
    .option("--queue <name>", "only of this queue")
    .option("--tag <tag>", "only of tasks with this tag")
    .option("--type <type>", "only of this type, such as task.failed; several times", collect)
    .option("--count <n>", "end after so many events", readInteger)
    .action(async ({ queue, tag, type, count, calls, ...options }: ListenOptions, command: Command) => {
      if (!URL.canParse(options.forward) || !/^https?:$/.test(new URL(options.forward).protocol))
        return command.error("error: --forward must be a URL with http or https");
      const client = await user.client(options);
      if (calls && (await client.me()).environment !== "test")
        throw new Error("--calls needs a test key: with a live key the server makes the calls itself");
      const secret = await chooseSecret(client);
      const ended = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ended.abort());
      const onReady = () => user.tell(`Listening, and sending to ${options.forward}; Ctrl-C ends\n`);
      const send = async (what: string, outgoing: Outgoing) => {
        const answer = await forward(await addressed(options.forward, outgoing, secret));
        user.print(
          options.json ? `${JSON.stringify({ ...describe(outgoing), ...answer })}\n` : line(what, answer),
        );
      };
      let seen = 0;
      try {
        const query = given({ queue, tag, types: type });
        for await (const event of client.events(query, { signal: ended.signal, onReady })) {
          if (event.type === "reset") continue;
          await send(`${event.type} ${nameOf(event)}`, deliveryOf(event));
          if (calls && event.type === "task.created" && "task" in event) {
            const task = await client.tasks.get(event.task.id);
            await send(`call ${task.id}`, callOf(task));
          }
          seen += 1;
          if (seen === count) break;
        }
      } catch (error) {
        if (!ended.signal.aborted) throw error;
      }
    });
}

/**
 * The one that the endpoint verifies with, where it is known here or the key may read the team's. Otherwise one is made for this run, and
 * told.
 */
async function chooseSecret({ signingSecret }: Bellhop): Promise<string> {
  const known = process.env.BELLHOP_SIGNING_SECRET;
  if (known) return known;
  try {
    return (await signingSecret.get()).secret;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
  }
  const made = `whsec_${randomBytes(32).toString("base64")}`;
  process.stderr.write(
    `Requests are signed with ${made}: give it to the endpoint as BELLHOP_SIGNING_SECRET\n`,
  );
  return made;
}

/** As a webhook is sent. */
function deliveryOf({ id, type, ...data }: BellhopEvent): Outgoing {
  const body = JSON.stringify(toWire({ type, timestamp: new Date().toISOString(), data }));
  return { path: "", method: "POST", headers: { "content-type": "application/json" }, body, id: `evt_${id}` };
}

/** As the first attempt of a task is made. */
function callOf(task: Task): Outgoing {
  const isDirect = "targetUrl" in task;
  const url = new URL(isDirect ? task.targetUrl : task.webhookUrl);
  const content = isDirect ? task.body : task.payload;
  const body =
    content === undefined || content === null
      ? ""
      : typeof content === "string" && isDirect
        ? content
        : JSON.stringify(content);
  const headers = {
    ...(body === "" ? {} : { "content-type": "application/json" }),
    ...task.headers,
    "bellhop-task-id": task.id,
    "bellhop-queue": task.queue,
    "bellhop-attempt": "1",
  };
  return { path: url.pathname + url.search, method: task.method, headers, body, id: task.id };
}

async function addressed(base: string, { path, method, headers, body, id }: Outgoing, secret: string) {
  const url = path === "" ? base : atPath(base, path);
  return { url, method, body, headers: { ...headers, ...(await signWebhook({ id, body, secret })) } };
}

function describe({ id, method, path }: Outgoing) {
  return { id, method, path };
}

function nameOf(event: BellhopEvent): string {
  return "task" in event ? event.task.id : "queue" in event ? event.queue.name : "";
}

function line(what: string, { status, error }: Forwarded): string {
  return `${printable(what)} → ${status ?? printable(error ?? "")}\n`;
}
