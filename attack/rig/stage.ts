import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { withOperatorDatabase } from "../../packages/server/src/cli/operator-database.ts";
import { createOperatorsKey } from "../../packages/server/src/service/operator/operator-keys.ts";
import { createOperatorsTeam } from "../../packages/server/src/service/operator/operator-teams.ts";
import { readDatabaseBytes } from "../../packages/server/src/store/disk-usage.ts";
import { acceptText } from "../../packages/server/test/test-sql.ts";
import { repositoryRoot, startProcess } from "../../tools/child-process.ts";
import type { Answer, Scene, Stage } from "../scene.ts";
import { startTarget } from "./target.ts";

const OPERATOR_KEY = "bh_live_attackAttackAttackAttackAttack0123456789";

/** As a stranger meets it: calls to loopback are allowed, for that is where all targets are, and nothing else is. */
const SETTINGS = {
  PORT: "0",
  HOST: "127.0.0.1",
  // Empty counts as unset: the embedded database, whatever the shell of the operator says.
  DATABASE_URL: "",
  BELLHOP_API_KEY: OPERATOR_KEY,
  LOG_LEVEL: "warn",
  // The same on every machine.
  BELLHOP_PROCESSES: "1",
};

export interface OpenStage extends Stage {
  stop(): Promise<void>;
}

/** A server on an empty data directory, for one scene. */
export async function openStage(scene: Pick<Scene, "env">, logFile: string): Promise<OpenStage> {
  const directory = mkdtempSync(join(tmpdir(), "bellhop-attack-"));
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
  // After Ctrl-C nobody calls stop.
  process.once("exit", removeDirectory);
  // As root, PostgreSQL runs under another user, which has to be able to enter.
  chmodSync(directory, 0o755);
  const dataDir = join(directory, "data");
  mkdirSync(dataDir);
  const server = await startProcess({
    name: "bellhop",
    // Another build can stand in, to see an attack succeed where the defence is not there.
    args: [process.env.ATTACK_BELLHOP_MAIN ?? `${repositoryRoot}/packages/server/dist/main.js`],
    env: { ...SETTINGS, BELLHOP_DATA_DIR: dataDir, ...scene.env },
    logFile,
  });
  const target = await startTarget();
  const agent = new Agent({ connections: 64 });
  let teams = 0;

  async function ask(
    method: string,
    path: string,
    { key, body, headers }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const answer = await request(`${server.readyAt}${path}`, {
      method: method as "POST",
      dispatcher: agent,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, text, body: parse(text) };
  }

  return {
    url: server.readyAt,
    operatorKey: OPERATOR_KEY,
    pid: server.pid,
    target,
    team: ({ plan = "free", owner } = {}) =>
      withOperatorDatabase({ databaseUrl: null, dataDir }, async (database) => {
        teams += 1;
        const name = `team ${teams}`;
        const address = owner ?? `person-${teams}@example.com`;
        const team = await createOperatorsTeam(database, "attack", {
          name,
          plan,
          perMinute: null,
          owner: address,
        });
        const { apiKey } = await createOperatorsKey(database, "attack", team.id, {
          name,
          environment: "live",
        });
        return { key: apiKey.key, id: team.id };
      }),
    rows: (text, values) =>
      withOperatorDatabase({ databaseUrl: null, dataDir }, (database) =>
        acceptText(database).rows(text, values),
      ),
    storedBytes: () =>
      withOperatorDatabase({ databaseUrl: null, dataDir }, (database) => readDatabaseBytes(database)),
    request: ask,
    async must(method, path, options) {
      const answer = await ask(method, path, options);
      if (answer.status >= 300)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      return answer;
    },
    async stop() {
      await agent.destroy();
      await target.stop();
      await server.stop();
      removeDirectory();
      process.off("exit", removeDirectory);
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
