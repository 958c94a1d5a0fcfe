import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { Pool } from "undici";
import { startEmbeddedPostgres } from "../../packages/server/src/postgres/embedded.ts";
import { hashSecret, newSecret } from "../../packages/server/src/service/access/secret-hash.ts";
import { endAtExit } from "../../tools/ending.ts";
import { randomSeed, readOptions, readOrExit } from "../../tools/options.ts";
import { listDescendants } from "../../tools/process-usage.ts";
import { signalTree } from "../../tools/signal-tree.ts";
import { API_KEY } from "../rig/api.ts";
import { type FuzzAnswer, type FuzzRequest, fuzz } from "./fuzz.ts";

const USAGE = `npm run fuzz -- [options]

  --requests n  how many (default 2000)
  --seed n      draws the same requests again (default: a new one, printed)
`;

const OWNER = "owner@example.com";
const TOLD = 20;

const { requests, seed } = readOrExit(USAGE, readArguments);

const dataDir = await mkdtemp(join(tmpdir(), "bellhop-fuzz-"));
endAtExit(() => rmSync(dataDir, { recursive: true, force: true }));
// The node and the database.
endAtExit(() => {
  for (const { pid } of listDescendants(process.pid)) signalTree(pid, "SIGKILL");
});
const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
const node = await startNode();
const pool = new Pool(node.url, { connections: 8 });
const database = new pg.Client(postgres.connection);
await database.connect();
const sessions: string[] = [];
let signingIn: Promise<void> | null = null;

async function send({ method, path, headers, body }: FuzzRequest): Promise<FuzzAnswer> {
  const answer = await pool.request({ method: method as "GET", path, headers, body });
  return {
    status: answer.statusCode,
    contentType: String(answer.headers["content-type"] ?? ""),
    text: await answer.body.text(),
  };
}

/** A person's session. The link is not sent: of mails to one address only a few are allowed. */
function signIn(): Promise<void> {
  signingIn ??= signInOnce().finally(() => {
    signingIn = null;
  });
  return signingIn;
}

async function signInOnce(): Promise<void> {
  const token = newSecret();
  await database.query(
    "insert into sign_in_links (email, hash, expires_at) values ($1, $2, now() + interval '15 minutes') " +
      "on conflict (email) do update set hash = excluded.hash, expires_at = excluded.expires_at",
    [OWNER, hashSecret(token)],
  );
  const { text } = await send({
    method: "POST",
    path: "/v1/auth/session",
    headers: { "content-type": "application/json", "x-forwarded-for": newAddress() },
    body: JSON.stringify({ token }),
  });
  const session = /"token":"([^"]+)"/.exec(text)?.[1];
  if (session === undefined) throw new Error(`Could not sign in: ${text}`);
  sessions.splice(0, sessions.length, session);
}

function newAddress(): string {
  return `192.${Array.from({ length: 3 }, () => Math.floor(Math.random() * 256)).join(".")}`;
}

const document = JSON.parse(
  (await send({ method: "GET", path: "/openapi.json", headers: {}, body: null })).text,
);
await signIn();
console.log(`seed ${seed}, ${requests} requests`);
const beganMs = performance.now();
const { violations, statuses, neverGood } = await fuzz({
  document,
  requests,
  seed,
  send,
  credentials: () => [API_KEY, API_KEY, ...sessions],
  async onAnswer({ headers }, { status }) {
    const isOurs = sessions.some((session) => headers["authorization"] === `Bearer ${session}`);
    if (status === 401 && isOurs) await signIn();
  },
});
const seconds = (performance.now() - beganMs) / 1000;
const counts = [...statuses].sort().map(([status, count]) => `${status} ${count}`);
console.log(`answers    ${counts.join(", ")} in ${seconds.toFixed(0)} s`);
console.log(`never good ${neverGood.length === 0 ? "none" : neverGood.join(", ")}`);
for (const violation of violations.slice(0, TOLD)) console.log(`VIOLATED ${violation}`);
console.log(`${violations.length} violations`);
await pool.destroy();
await database.end();
node.stop();
await postgres.stop();
process.exit(violations.length === 0 ? 0 : 1);

function readArguments(args: string[]) {
  const given = readOptions(args, { requests: "text", seed: "text" });
  return {
    requests: given.number("requests", { initial: 2_000, max: 1e9, isWhole: true }),
    seed: given.number("seed", { initial: randomSeed(), max: 2 ** 32, isWhole: true }),
  };
}

/** A node that only serves the API: whatever it is asked to call, it makes no calls. */
async function startNode() {
  const { host, port, user, password = "", database } = postgres.connection;
  const main = fileURLToPath(new URL("../../packages/server/dist/main.js", import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH ?? "",
      PORT: "0",
      BELLHOP_ROLE: "api",
      BELLHOP_API_KEY: API_KEY,
      BELLHOP_OWNER_EMAIL: OWNER,
      BELLHOP_TRUST_PROXY: "127.0.0.1",
      BELLHOP_VAULT_KEYS: `fuzz:${Buffer.alloc(32, 7).toString("base64")}`,
      DATABASE_URL: `postgres://${user}:${encodeURIComponent(password)}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  const logged = async (what: RegExp): Promise<string> => {
    for (;;) {
      const found = what.exec(log)?.[1];
      if (found !== undefined) return found;
      if (child.exitCode !== null) throw new Error(`The server ended: ${log}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      log = `${log}${chunk}`.slice(-200_000);
    });
  const url = await logged(/Bellhop is ready at (\S+)/);
  return {
    url,
    stop: () => child.kill("SIGKILL"),
  };
}
