import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { type Bellhop, createBellhop } from "@bellhop/sdk";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Echo, startEcho } from "../../src/cli/echo.ts";
import { BELLHOP, ROOT } from "../places.ts";
import { copyDataDir } from "./data-dir.ts";
import { API_KEY, type Json, type ServerProcess, startServer } from "./server-process.ts";

const READS = [
  "explain_task",
  "get_task",
  "list_failures",
  "list_queues",
  "list_schedules",
  "list_tasks",
  "wait_for_task",
  "who_am_i",
];

interface Agent {
  readonly client: Client;
  tools(): Promise<string[]>;
  /** What a tool answers; text where it refused. */
  use(name: string, input?: Record<string, unknown>): Promise<Json>;
}

describe("bellhop mcp, used by the official client", () => {
  let dataDir: string;
  let home: string;
  let server: ServerProcess;
  let echo: Echo;
  let bellhop: Bellhop;
  const agents: Client[] = [];
  let writer: Agent;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), "bellhop-mcp-"));
    dataDir = await copyDataDir();
    echo = await startEcho({ host: "127.0.0.1", port: 0, print: () => {} });
    server = await startServer({ BELLHOP_DATA_DIR: dataDir });
    bellhop = createBellhop({ url: server.url, apiKey: API_KEY });
    writer = await connect(API_KEY, ["--allow-writes"]);
  });
  after(async () => {
    for (const agent of agents) await agent.close();
    server.signal("SIGTERM");
    await server.exited;
    await echo.stop();
    for (const dir of [dataDir, home]) await rm(dir, { recursive: true, force: true });
  });

  function environment(apiKey: string): Record<string, string> {
    return {
      PATH: process.env.PATH ?? "",
      XDG_CONFIG_HOME: home,
      BELLHOP_URL: server.url,
      BELLHOP_API_KEY: apiKey,
    };
  }

  async function connect(apiKey: string, args: readonly string[] = [], era?: "legacy"): Promise<Agent> {
    const client = new Client(
      { name: "test", version: "1.0.0" },
      { versionNegotiation: { mode: era ?? "auto" } },
    );
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [BELLHOP, "mcp", ...args],
        env: environment(apiKey),
      }),
    );
    agents.push(client);
    return {
      client,
      tools: async () => (await client.listTools()).tools.map(({ name }) => name).sort(),
      async use(name, input = {}) {
        const { content, isError } = await client.callTool({ name, arguments: input });
        const [part] = content;
        assert.ok(part?.type === "text");
        return isError ? part.text : JSON.parse(part.text);
      },
    };
  }

  /** An application's token, which may be used for these things alone. */
  async function tokenFor(scopes: ("tasks:read" | "tasks:write")[]): Promise<string> {
    const { clientId, clientSecret } = await bellhop.applications.create({
      name: scopes.join(" "),
      scopes,
      grantTypes: ["client_credentials"],
    });
    const { accessToken } = await bellhop.oauth.issueToken({
      grantType: "client_credentials",
      clientId,
      clientSecret: clientSecret ?? "",
    });
    return accessToken;
  }

  it("offers only read tools unless writes are allowed", async () => {
    const agent = await connect(API_KEY);
    assert.deepEqual(await agent.tools(), READS);
    const { tools } = await agent.client.listTools();
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
    assert.match(agent.client.getInstructions() ?? "", /Only reading is allowed/);

    const refused = await agent.use("create_task", { webhookUrl: echo.url }).catch((error) => error.message);
    assert.match(refused, /create_task/);
    assert.deepEqual(await bellhop.tasks.page(), { ...(await bellhop.tasks.page()), tasks: [] });
  });

  it("creates, reads, explains, cancels and retries a task when writes are allowed", async () => {
    const done = await writer.use("create_task", { webhookUrl: `${echo.url}/echo`, payload: { user: 42 } });
    const ended = await writer.use("wait_for_task", { taskId: done.id });
    assert.equal(ended.status, "completed");
    assert.match(ended.result.body, /\\"user\\":42/);

    const later = await writer.use("create_task", { webhookUrl: echo.url, delay: 3600, tags: ["later"] });
    assert.equal((await writer.use("get_task", { taskId: later.id })).status, "pending");
    assert.equal((await writer.use("explain_task", { taskId: later.id })).runnable, false);
    assert.deepEqual(
      (await writer.use("list_tasks", { tag: "later" })).tasks.map(({ id }: Json) => id),
      [later.id],
    );
    assert.equal((await writer.use("cancel_task", { taskId: later.id })).status, "cancelled");
    assert.equal((await writer.use("retry_task", { taskId: later.id })).status, "pending");
  });

  it("creates, runs, pauses and resumes a schedule, and pauses and resumes a queue", async () => {
    const task = { webhookUrl: echo.url, payload: { report: "weekly" } };
    const made = await writer.use("put_schedule", { name: "weekly", cron: "0 9 * * 1", task });
    assert.equal(made.cron, "0 9 * * 1");
    assert.equal((await writer.use("pause_schedule", { schedule: "weekly" })).paused, true);
    assert.equal((await writer.use("resume_schedule", { schedule: "weekly" })).paused, false);
    const run = await writer.use("run_schedule", { schedule: "weekly" });
    assert.equal((await bellhop.tasks.get(run.id)).queue, "default");
    assert.deepEqual(
      (await writer.use("list_schedules")).map(({ name }: Json) => name),
      ["weekly"],
    );
    assert.equal((await writer.use("pause_queue", { queue: "default" })).paused, true);
    assert.equal((await writer.use("list_queues"))[0].paused, true);
    assert.equal((await writer.use("resume_queue", { queue: "default" })).paused, false);
  });

  it("offers the tools that the scopes allow, and passes on the server's refusals", async () => {
    const reader = await connect(await tokenFor(["tasks:read"]), ["--allow-writes"]);
    const ofTasks = READS.filter((name) => !/queues|schedules/.test(name));
    assert.deepEqual(await reader.tools(), ofTasks);
    const changer = await connect(await tokenFor(["tasks:write"]), ["--allow-writes"]);
    assert.deepEqual(await changer.tools(), ["cancel_task", "create_task", "retry_task", "who_am_i"]);

    const missing = await writer.use("get_task", { taskId: "task_00000000000000000000000000" });
    assert.match(missing, /^Task not found \(404 task_not_found, request \S+\)$/);
    assert.match(await writer.use("create_task", { webhookUrl: "ftp://x" }), /^.+ \(400 invalid, /);
    const unknown = await writer.use("create_task", { webhookUrl: echo.url, retries: 3 });
    assert.match(unknown, /additional properties/i);
  });

  it("truncates long texts in results", async () => {
    const { id } = await bellhop.tasks.create({
      queue: "default",
      webhookUrl: echo.url,
      delay: 3600,
      payload: { text: "x".repeat(100_000) },
    });
    const { payload } = await writer.use("get_task", { taskId: id });
    assert.match(payload.text, /^x{4000}… \(96000 more characters\)$/);
  });

  it("serves clients of earlier protocol revisions", async () => {
    const agent = await connect(API_KEY, [], "legacy");
    assert.equal((await agent.use("who_am_i")).team.name, "Operator");
  });

  it("exits with an error when the key is invalid", async () => {
    const env = environment(`bh_live_${"0".repeat(40)}`);
    await assert.rejects(promisify(execFile)(process.execPath, [BELLHOP, "mcp"], { env }), {
      code: 1,
      stdout: "",
      stderr: /\(401 api_key_invalid, request \S+\)\n$/,
    });
  });

  it("is documented with every tool, and with a configuration that starts it", async () => {
    const page = await readFile(join(ROOT, "docs/mcp.md"), "utf8");
    for (const name of await writer.tools()) assert.ok(page.includes(`\`${name}\``), name);
    const { mcpServers } = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "");
    const { command, args, env } = mcpServers.bellhop;
    assert.deepEqual([command, ...args], ["npx", "bellhop", "mcp"]);
    assert.ok(Object.keys(env).every((name) => name in environment("")));
  });
});
