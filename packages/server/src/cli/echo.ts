import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type EchoAnswer, type Job, playProvider } from "./echo-provider.ts";

export interface Echo {
  readonly url: string;
  stop(): Promise<void>;
}

export interface EchoRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const ECHO_PATHS = `  /                    answers 200
  /status/503          answers with that status; ?retry-after=5 adds the header
  /fail/2              answers 500 the first two times a task calls, then 200
  /slow/3              answers after three seconds
  /hang                never answers
  /redirect            answers 302 to /
  /echo                answers with the headers and body of the request
  /callback            takes { "callbackUrl": … }, answers 202, and sends the callback a second later
  /fal                 acts as a provider like fal: a job that is done after ?polls=2, or fails with ?end=fail
  /jobs                acts as a provider with { id, status, output }; poll it at /jobs/<id>`;

/** A test target for Bellhop that needs no internet. It prints every request that it receives. */
export async function startEcho(options: {
  readonly host: string;
  readonly port: number;
  readonly print: (text: string) => void;
}): Promise<Echo> {
  const failures = new Map<string, number>();
  const jobs = new Map<string, Job>();
  let address = "";

  function answer(request: EchoRequest): EchoAnswer | Promise<EchoAnswer> | null {
    const [, what = "", detail = ""] = request.url.pathname.split("/");
    switch (what) {
      case "status":
        return {
          status: statusOf(detail),
          headers: retryAfter(request.url),
          body: { status: statusOf(detail) },
        };
      case "fail":
        return fail(request, Number(detail) || 1);
      case "slow":
        return after(Math.min(Number(detail) || 1, 3600) * 1000, { status: 200, body: { slow: true } });
      case "hang":
        return null;
      case "redirect":
        return { status: 302, headers: { location: `${address}/` }, body: {} };
      case "echo":
        return {
          status: 200,
          body: { method: request.method, headers: request.headers, body: request.body },
        };
      case "callback":
        return callBack(request);
      case "fal":
      case "jobs":
        return playProvider(what, detail, request.url, jobs, address);
      default:
        return { status: 200, body: { ok: true } };
    }
  }

  function fail(request: EchoRequest, times: number): EchoAnswer {
    const task = request.headers["bellhop-task-id"] ?? "";
    const failed = failures.get(task) ?? 0;
    failures.set(task, failed + 1);
    return failed < times
      ? { status: 500, body: { failed: failed + 1 } }
      : { status: 200, body: { ok: true } };
  }

  function callBack({ body }: EchoRequest): EchoAnswer {
    const url = /"callbackUrl"\s*:\s*"([^"]+)"/.exec(body)?.[1];
    if (url === undefined || !URL.canParse(url)) {
      return { status: 400, body: { error: 'Send { "callbackUrl": "{callbackUrl}" }' } };
    }
    setTimeout(() => {
      const content = JSON.stringify({ answer: 42, from: "bellhop echo" });
      const headers = { "content-type": "application/json" };
      fetchOnce(url, { method: "POST", headers, body: content })
        .then((status) => options.print(`→ called back: ${status}\n`))
        .catch(() => options.print("→ the callback could not be made\n"));
    }, 1000).unref();
    return { status: 202, body: { accepted: true } };
  }

  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming, address);
    options.print(describe(request));
    const reply = await answer(request);
    if (reply !== null) send(response, reply);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(explain(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  address = `http://${options.host}:${(server.address() as AddressInfo).port}`;
  return {
    url: address,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function explain(error: Error, { host, port }: { host: string; port: number }): Error {
  if (!("code" in error && error.code === "EADDRINUSE")) return error;
  return new Error(`Port ${port} on ${host} is in use, perhaps by another echo. Choose another with --port`);
}

async function fetchOnce(url: string, init: RequestInit): Promise<number> {
  return (await globalThis.fetch(url, init)).status;
}

async function readRequest(incoming: IncomingMessage, address: string): Promise<EchoRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
  return {
    method: incoming.method ?? "GET",
    url: new URL(incoming.url ?? "/", address),
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks).toString("utf8"),
  };
}

function describe({ method, url, headers, body }: EchoRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`);
  return `${method} ${url.pathname}${url.search}\n${lines.join("\n")}\n${body === "" ? "" : `  ${body}\n`}`;
}

function send(response: ServerResponse, { status, headers, body }: EchoAnswer): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function statusOf(text: string): number {
  const status = Number(text);
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : 200;
}

function retryAfter(url: URL): Record<string, string> {
  const value = url.searchParams.get("retry-after");
  return value === null ? {} : { "retry-after": value };
}

function after(ms: number, answer: EchoAnswer): Promise<EchoAnswer> {
  return new Promise((resolve) => setTimeout(resolve, ms, answer));
}
