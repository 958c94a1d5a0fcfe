import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { serve } from "@hono/node-server";
import { Webhook } from "standardwebhooks";
import { ROOT } from "../../server/test/places.ts";
import { GATEWAY_FORMS, openGateway } from "./lambda-gateway.ts";
import { compile, install, type Project, pack } from "./packed.ts";

const SECRET = `whsec_${Buffer.from("a secret of the team").toString("base64")}`;
const FRAMEWORKS = ["express", "fastify", "hono", "@hono/node-server"];
/** Examples that are programs: where they take calls, of which payloads, with which results, and notifications. */
const SERVERS = [
  ["express", "/tasks/resize", "image", "resized", "/tasks/ended"],
  ["fastify", "/tasks/resize", "image", "resized", "/tasks/ended"],
  ["hono", "/tasks/resize", "image", "resized", "/tasks/ended"],
  ["node", "/welcome", "user", "welcomed", "/done"],
] as const;

/** That the handlers fit the types which frameworks and AWS give to handlers, and that wrong options do not compile. */
const TYPES = `
import type { ALBHandler, APIGatewayProxyHandler, APIGatewayProxyHandlerV2, LambdaFunctionURLHandler } from "aws-lambda";
import type { RequestHandler } from "express";
import { createBellhop, handler } from "@bellhop/sdk";
import { handler as express } from "@bellhop/sdk/express";
import { handler as lambda } from "@bellhop/sdk/lambda";
import { handler as next } from "@bellhop/sdk/next";

export const behindUrl: LambdaFunctionURLHandler = lambda(() => ({}));
export const behindGateway: [APIGatewayProxyHandler, APIGatewayProxyHandlerV2, ALBHandler] = [
  lambda(() => ({})), lambda(() => ({})), lambda(() => ({})),
];
export const middleware: RequestHandler = express<{ a: number }>({ secret: [] }, ({ payload }) => payload.a.toFixed());
export const route: (request: Request) => Promise<Response> = next({ secret: process.env.SECRET }, () => {});
export const other: (request: Request) => Promise<Response> = handler({ secret: process.env.SECRET }, () => {});

export async function use(): Promise<void> {
  const bellhop = createBellhop({ url: process.env.BELLHOP_URL, apiKey: process.env.BELLHOP_API_KEY });
  const delay = Math.random() > 2 ? 1 : undefined;
  await bellhop.tasks.create({ queue: "q", webhookUrl: "u", delay, headers: undefined }, { signal: undefined });
  // @ts-expect-error
  await bellhop.tasks.create({ queue: "q", webhookUrl: "u" }, { timeout: 5 });
  // @ts-expect-error
  await bellhop.tasks.get("id", { idempotencyKey: "x" });
  // @ts-expect-error
  handler({ secrets: [] }, () => {});
}
`;

async function sources(): Promise<Record<string, string>> {
  const files = {
    ...Object.fromEntries(
      ["express", "fastify", "hono", "node", "lambda"].map((name) => [name, `${name}-receiver/receiver`]),
    ),
    next: "next-route-handler/app/api/welcome/route",
    signup: "next-route-handler/app/api/signup/route",
  };
  const read = Object.entries(files).map(async ([name, file]) => [
    name,
    await readFile(join(ROOT, `examples/${file}.ts`), "utf8"),
  ]);
  return { ...Object.fromEntries(await Promise.all(read)), types: TYPES };
}

/** A request as Bellhop sends it, signed by the library of Standard Webhooks. */
async function post(url: string, body: string, type = "application/json", id = "task_1"): Promise<Response> {
  const at = new Date();
  return fetch(url, {
    method: "POST",
    body,
    headers: {
      "content-type": type,
      "Webhook-Id": id,
      "Webhook-Timestamp": String(Math.floor(at.getTime() / 1000)),
      "Webhook-Signature": new Webhook(SECRET).sign(id, at, body),
      "Bellhop-Attempt": "2",
    },
  });
}

async function answerOf(response: Response): Promise<[number, unknown, string | null]> {
  const text = await response.text();
  return [response.status, text && JSON.parse(text), response.headers.get("bellhop-no-retry")];
}

/** What every receiver in examples/ does with calls whose payload has this field. */
async function receives(url: string, field: string, done: string): Promise<void> {
  const refused = [422, { error: `${field} is missing` }, "true"];
  // Bytes that no parser would write again in this way.
  const odd = `{ "${field}" : "\\u0061.png", "n": 1.0 }\n`;
  assert.deepEqual(await answerOf(await post(url, odd)), [200, { [done]: "a.png" }, null]);
  const large = JSON.stringify({ [field]: "ü", filler: "x".repeat(2 * 1024 * 1024) });
  assert.deepEqual(
    await answerOf(await post(url, large)),
    [200, { [done]: "ü" }, null],
    "more than a framework's limit",
  );
  assert.deepEqual(await answerOf(await post(url, "{}")), refused);
  for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
    assert.deepEqual(await answerOf(await post(url, "not=json", type)), refused, type);
  }
  assert.equal((await post(url, '{"broken"')).status, 422, "is not JSON");
  const unsigned = await fetch(url, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" },
  });
  assert.deepEqual(await answerOf(unsigned), [401, { error: "The request is not signed" }, null]);
}

async function notified(url: string): Promise<void> {
  const body = '{"type":"task.completed","data":{"task":{"id":"task_1"}}}';
  assert.deepEqual(await answerOf(await post(url, body, "application/json", "ntf_1")), [204, "", null]);
}

/** Starts a compiled example, as a program of its own, and gives its address. */
async function start(file: string, flags: readonly string[]) {
  const child = spawn(process.execPath, [...flags, file], {
    env: { PATH: process.env.PATH ?? "", BELLHOP_SIGNING_SECRET: SECRET, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  const port = await new Promise<string>((resolve, reject) => {
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      const [, found] = /port: (\d+)/.exec(printed) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`${file} ended without an address: ${printed}`)));
  });
  return { url: `http://127.0.0.1:${port}`, stop };
}

describe("the packed SDK", () => {
  const secretBefore = process.env.BELLHOP_SIGNING_SECRET;
  let home: string;
  let tarball: string;
  before(async () => {
    process.env.BELLHOP_SIGNING_SECRET = SECRET;
    home = await realpath(await mkdtemp(join(tmpdir(), "bellhop-receivers-")));
    tarball = await pack();
  });
  after(async () => {
    if (secretBefore === undefined) delete process.env.BELLHOP_SIGNING_SECRET;
    else process.env.BELLHOP_SIGNING_SECRET = secretBefore;
    await rm(home, { recursive: true, force: true });
  });

  /** A project with all receivers of examples/, compiled. Declarations of frameworks are not ours to check. */
  async function createProject(name: string, project: Project): Promise<string> {
    const place = join(home, name);
    await install(tarball, place);
    const options = { ...project.options, skipLibCheck: true };
    await compile(place, { ...project, packages: FRAMEWORKS, options }, await sources());
    return place;
  }

  for (const type of ["module", "commonjs"] as const) {
    describe(`in a project of type ${type}`, () => {
      let project: string;
      before(async () => {
        project = await createProject(type, { type });
      });

      const fileOf = (name: string) => join(project, `out/${name}.js`);
      const load = (name: string) => import(pathToFileURL(fileOf(name)).href);

      for (const [name, path, field, done, ended] of SERVERS) {
        it(`receives calls and notifications in ${name}`, async () => {
          // Without this flag newer versions of Node let `require` take an ES module.
          const flags = type === "commonjs" ? ["--no-experimental-require-module"] : [];
          const server = await start(fileOf(name), flags);
          try {
            await receives(server.url + path, field, done);
            await notified(server.url + ended);
          } finally {
            await server.stop();
          }
        });
      }

      it("receives calls in a Next.js route handler", async () => {
        const { POST } = await load("next");
        const server = serve({ fetch: (request) => POST(request), port: 0, hostname: "127.0.0.1" });
        await once(server, "listening");
        const { port } = server.address() as AddressInfo;
        try {
          await receives(`http://127.0.0.1:${port}/`, "user", "welcomed");
        } finally {
          server.close();
        }
      });

      for (const form of GATEWAY_FORMS) {
        for (const isBase64Encoded of [false, true]) {
          it(`receives calls in Lambda behind ${form}, ${isBase64Encoded ? "in base64" : "as text"}`, async () => {
            const { resize, ended } = await load("lambda");
            const gateway = await openGateway(form, isBase64Encoded, { "/resize": resize, "/ended": ended });
            try {
              await receives(`${gateway.url}/resize`, "image", "resized");
              await notified(`${gateway.url}/ended`);
            } finally {
              gateway.close();
            }
          });
        }
      }
    });
  }

  const compiler = "packages/sdk/node_modules/typescript";

  it("has declarations for CommonJS with node10 module resolution, in TypeScript 5", async () => {
    const options = { module: "commonjs", moduleResolution: "node10", esModuleInterop: true };
    await createProject("node10", { type: "commonjs", compiler, options });
  });

  it("has declarations for bundler module resolution, in TypeScript 5", async () => {
    const options = { module: "esnext", moduleResolution: "bundler" };
    await createProject("bundler", { type: "module", compiler, options });
  });
});
