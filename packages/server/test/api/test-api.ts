import assert from "node:assert/strict";
import { after } from "node:test";
import type {
  FastifyInstance,
  InjectOptions,
  LightMyRequestResponse,
  onSendHookHandler,
  RouteOptions,
} from "fastify";
import { pino } from "pino";
import type { PageFiles } from "../../src/api/pages/page-files.ts";
import type { LinkDelivery } from "../../src/api/pages/sign-in.ts";
import type { ApiDeps } from "../../src/api/server.ts";
import type { Mail } from "../../src/domain/identity/mail.ts";
import { composeApi } from "../../src/server/compose-api.ts";
import type { Services } from "../../src/server/compose-node.ts";
import { REFERENCE } from "../places.ts";
import { openTestServer, refusePrivate, type TestServer } from "../test-server.ts";
import { openTestTeam, type TestTeam } from "./test-team.ts";

/** The API of a real node, asked by injection, as one team that no other test knows. */
export interface TestApi {
  readonly app: FastifyInstance;
  /** What stands behind it: services, engine, database and the target on this machine that calls are made to. */
  readonly server: TestServer;
  readonly services: Services;
  /** Every log line of the API so far, parsed. */
  readonly lines: Record<string, unknown>[];
  /** Every mail that was sent, the newest last. */
  readonly mails: Mail[];
  /** Its queue `default` is paused: a task in it stays pending, and nothing is called. */
  readonly team: TestTeam;
  /** A call with the team's key. A string is sent as it is, anything else as JSON. */
  call(method: Method, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Without a credential, and from an address that no limit has counted yet unless it is named. */
  send(request: InjectOptions): Promise<Answer>;
  openTeam(name?: string): Promise<TestTeam>;
  /** A new task, of the queue `runs` unless it names another; the engine has called its target when this returns. */
  run(fields: object | string): Promise<Answer>;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: LightMyRequestResponse["headers"];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
  readonly body: any;
}

type Method = NonNullable<InjectOptions["method"]>;
type Http = Partial<
  Pick<ApiDeps, "trustProxy" | "publicUrl" | "connections" | "bodies" | "deadlines" | "onRoute">
> & {
  readonly links?: LinkDelivery;
  readonly heartbeatMs?: number;
  readonly page?: PageFiles;
  readonly help?: PageFiles;
};

export { PRIVATE_RULE } from "../test-server.ts";
export const BODY_LIMIT = 64 * 1024;
export const PUBLIC_URL = "https://bellhop.test";
export const VERSION = "1.2.3";

const mails: Mail[] = [];
let openedServer: Promise<TestServer> | null = null;
let sharedApp: Promise<OpenApp> | null = null;
let sources = 0;

/** One server for all suites of a process: teams do not see each other, and a second one would cost what a suite does. */
function openServer(): Promise<TestServer> {
  openedServer ??= openTestServer({}, { sendMail: (mail) => mails.push(mail) });
  return openedServer;
}

after(async () => {
  await (await sharedApp)?.app.close();
  await (await openedServer)?.close();
});

/** Answers that had more bytes than their route declares, so far. */
const tooLarge: string[] = [];

function refuseTooLarge(): void {
  assert.deepEqual(tooLarge.splice(0), []);
}

after(refuseTooLarge);

/** What is streamed counts by its portions. */
function checkBytes(route: RouteOptions): void {
  const { method, url, config } = route;
  const most = config?.cost?.bytes ?? 0;
  const check: onSendHookHandler = (_request, _reply, payload, done) => {
    const bytes = typeof payload === "string" || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    if (bytes > most) tooLarge.push(`${method} ${url} answered ${bytes} bytes and declares ${most}`);
    done(null, payload);
  };
  route.onSend = [...[route.onSend ?? []].flat(), check];
}

interface OpenApp {
  readonly app: FastifyInstance;
  readonly lines: Record<string, unknown>[];
}

async function openApp({ services }: TestServer, http: Http): Promise<OpenApp> {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const app = await composeApi(services, refusePrivate, {
    log,
    version: VERSION,
    publicUrl: PUBLIC_URL,
    bodyLimitBytes: BODY_LIMIT,
    reference: REFERENCE,
    ...http,
    onRoute(route) {
      http.onRoute?.(route);
      checkBytes(route);
    },
  });
  await app.ready();
  return { app, lines };
}

/** Who needs other settings, or closes the app, names them and has an app of its own: it takes long to build. */
export async function createTestApi(http?: Http): Promise<TestApi> {
  const server = await openServer();
  sharedApp ??= openApp(server, {});
  const { app, lines } = http === undefined ? await sharedApp : await openApp(server, http);

  const send = async (request: InjectOptions): Promise<Answer> => {
    sources += 1;
    const remoteAddress = `10.${(sources >> 16) & 255}.${(sources >> 8) & 255}.${sources & 255}`;
    const answer = toAnswer(await app.inject({ remoteAddress, ...request }));
    refuseTooLarge();
    return answer;
  };
  const openTeam = (name?: string) => openTestTeam({ database: server.database, mails, send }, name);
  const team = await openTeam();
  const call: TestApi["call"] = (method, url, body, headers = {}) =>
    send({
      method,
      url,
      headers: { ...team.headers, ...(body !== undefined && JSON_TYPE), ...headers },
      ...(body !== undefined && { payload: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  let runs: Promise<Answer> | null = null;
  const fill = (fields: object) => ({
    queue: "runs",
    ...("targetUrl" in fields ? {} : { webhook_url: server.target.url }),
    ...fields,
  });
  return {
    app,
    server,
    services: server.services,
    lines,
    mails,
    team,
    call,
    send,
    openTeam,
    async run(fields) {
      runs ??= call("POST", "/v1/queues", { name: "runs", max_retries: 0, retry_delay: 0 });
      await runs;
      const answer = await call("POST", "/v1/tasks", typeof fields === "string" ? fields : fill(fields));
      const { dispatcher, attempts } = server.engine;
      do {
        await dispatcher.dispatchOnce();
        await attempts.finished();
      } while (attempts.count > 0);
      return answer;
    },
    close: async () => {
      if (http === undefined) return;
      const closed = app.close();
      // What a test that failed has left open would be waited for.
      app.server.closeAllConnections();
      await closed;
    },
  };
}

const JSON_TYPE = { "content-type": "application/json" };

function toAnswer(response: LightMyRequestResponse): Answer {
  const { statusCode: status, headers, body: text } = response;
  const isJson = String(headers["content-type"]).startsWith("application/json");
  return { status, headers, text, body: isJson && text !== "" ? JSON.parse(text) : undefined };
}

/** An instant of this run, as the API writes them: to the millisecond, in UTC. */
export function assertNow(instant: unknown, secondsAhead = 0): void {
  const text = String(instant);
  assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const agoMs = Date.now() + secondsAhead * 1000 - Date.parse(text);
  assert.ok(agoMs > -2_000 && agoMs < 120_000, text);
}
