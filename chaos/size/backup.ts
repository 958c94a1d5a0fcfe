import { type ChildProcess, spawn } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkRestored, type RestoreRecord } from "../checker/restored.ts";
import { createApi } from "../rig/api.ts";
import { now } from "../rig/clock.ts";
import type { Node } from "../rig/node.ts";
import { isRecord } from "../rig/task-requests.ts";
import { type SceneOptions, type SceneReport, seconds } from "./scene.ts";
import { createServer, makeDirectory, removeDirectory, type Server } from "./server.ts";
import { startCountingTarget, startVariedLoad } from "./varied-load.ts";

const READERS = 4;
/** Tasks that are there before the first backup, and further ones before the next. */
const TASKS = 150;
const ENDED_MS = 90_000;
/** Nobody changes these while tasks are created. */
const STILL_TABLES = ["teams", "api_keys", "queues", "schedules", "vault_tokens", "signing_secrets"];

/** A backup under load, after one whose server was killed and one that was killed itself; then a restore, and all that is compared. */
export async function backup({ distDir, say }: SceneOptions): Promise<SceneReport> {
  const directory = await makeDirectory();
  const place = (name: string) => join(directory, name);
  const server = await createServer({ distDir, directory, dataDir: place("data") });
  const second = await createServer({ distDir, directory, dataDir: place("again") });
  const bellhop = (dataDir: string, ...args: string[]) => runBellhop(distDir, dataDir, args);
  const target = await startCountingTarget();
  try {
    await server.node.start();
    const load = startVariedLoad(server.node, target.url);
    await load.reach(TASKS);

    const orphaned = bellhop(server.dataDir, "backup", place("orphaned"));
    await waitForDraft(directory, "orphaned");
    await server.node.kill();
    const killedAt = now();
    await server.node.start();
    const wasMade = (await orphaned.ended).code === 0;
    say(`the server was killed during a backup, which ${wasMade ? "went on with its database" : "failed"}`);

    const broken = bellhop(server.dataDir, "backup", place("broken"));
    const draft = await waitForDraft(directory, "broken");
    broken.process.kill("SIGKILL");
    await broken.ended;

    await load.reach(TASKS * 2);
    const endedBefore = await readEnded(server);
    const tables = await countRows(server);
    const backupAt = now();
    const made = await bellhop(server.dataDir, "backup", place("nightly")).ended;
    const tookMs = now() - backupAt;
    await load.stop();
    await server.stop();
    const during = load.accepted.filter(({ at }) => at > backupAt).length;
    say(`${load.accepted.length} tasks accepted, ${during} of them since the backup began`);

    const refusals: RestoreRecord["refusals"][number][] = [];
    const refuse = async (of: string, source: string) => {
      const { code, said } = await bellhop(place("refused"), "restore", source).ended;
      const leftDatabase = existsSync(join(place("refused"), "pgdata"));
      refusals.push({ of, said: code === 0 ? null : said, leftDatabase });
      rmSync(place("refused"), { recursive: true, force: true });
    };
    await refuse("a backup that was killed", place("broken"));
    await refuse("the draft of a backup that was killed", draft);
    if (!wasMade) await refuse("a backup whose server was killed", place("orphaned"));
    for (const [of, damage] of Object.entries(DAMAGES)) {
      cpSync(place("nightly"), place("damaged"), { recursive: true });
      damage(join(place("damaged"), "pgdata"));
      await refuse(of, place("damaged"));
      rmSync(place("damaged"), { recursive: true });
    }

    const restored = await bellhop(second.dataDir, "restore", place("nightly")).ended;
    // As the operator is told to.
    copyFileSync(join(server.dataDir, "vault-keys"), join(second.dataDir, "vault-keys"));
    const restoredAt = now();
    await second.node.start();
    await waitForEnd(second);
    const after = await countRows(second);
    const record: RestoreRecord = {
      accepted: load.accepted,
      backupAt,
      endedBefore,
      restoredAt,
      found: await readAll(
        second.node,
        [...load.accepted, ...endedBefore].map(({ id }) => id),
      ),
      // Those under way when the server was killed are repeated.
      calls: target.calls.filter(({ at }) => at > killedAt),
      tallies: await readTallies(second),
      tables: STILL_TABLES.map((name) => ({
        name,
        before: tables.get(name) ?? -1,
        after: after.get(name) ?? -1,
      })),
      refusals,
    };
    const repeated = target.calls.filter(({ at }) => at >= restoredAt).length;
    const problems = [made, restored].flatMap(({ code, said }) => (code === 0 ? [] : [said]));
    // It says that it is whole, so it must be.
    if (wasMade) {
      const { code, said } = await bellhop(place("of-orphan"), "restore", place("orphaned")).ended;
      if (code !== 0) problems.push(`a backup that ended well cannot be restored: ${said}`);
    }
    return {
      lines: [
        `backup under load: ${seconds(tookMs)}, ${during} tasks accepted meanwhile`,
        `${endedBefore.length} tasks had ended before it; the restored server has ${[...record.found.values()].filter(Boolean).length} tasks and made ${repeated} calls`,
        ...refusals.map(({ of, said }) => `a restore from ${of}: ${said ?? "not refused"}`),
      ],
      violations: [
        ...problems,
        ...checkRestored(record),
        ...(during === 0 ? ["no task was accepted during the backup"] : []),
        ...(endedBefore.length === 0 || repeated === 0 ? ["there was nothing to compare"] : []),
      ],
      skipped: null,
    };
  } finally {
    target.stop();
    await server.stop();
    await second.stop();
    removeDirectory(directory);
  }
}

const DAMAGES: Readonly<Record<string, (pgdata: string) => void>> = {
  // In the rows of a table: PostgreSQL itself would not notice.
  "a backup with one changed byte": (pgdata) => {
    const names = readdirSync(join(pgdata, "base"), { recursive: true }).map((name) =>
      join(pgdata, "base", String(name)),
    );
    const sized = names.map((name) => ({ name, size: statSync(name).isFile() ? statSync(name).size : 0 }));
    const { name = "" } = sized.sort((one, other) => other.size - one.size)[0] ?? {};
    const bytes = readFileSync(name);
    const last = bytes.length - 1;
    bytes.writeUInt8(bytes.readUInt8(last) ^ 1, last);
    writeFileSync(name, bytes);
  },
  "a backup without one of its files": (pgdata) => rmSync(join(pgdata, "backup_label")),
  "a backup without its WAL": (pgdata) => {
    const [segment = ""] = readdirSync(join(pgdata, "pg_wal")).filter((name) => /^[0-9A-F]{24}$/.test(name));
    rmSync(join(pgdata, "pg_wal", segment));
  },
};

interface Run {
  readonly process: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly said: string }>;
}

function runBellhop(distDir: string, dataDir: string, args: readonly string[]): Run {
  const process_ = spawn(process.execPath, [join(distDir, "cli", "bellhop.js"), ...args], {
    env: { PATH: process.env.PATH ?? "", BELLHOP_DATA_DIR: dataDir },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  process_.stderr.on("data", (text) => {
    said += String(text);
  });
  const ended = new Promise<{ code: number | null; said: string }>((resolve) => {
    process_.once("close", (code) => resolve({ code, said: said.trim() }));
  });
  return { process: process_, ended };
}

/** Until it copies files. Returns its directory, which has another name than the backup is to have. */
async function waitForDraft(directory: string, name: string): Promise<string> {
  for (;;) {
    const draft = readdirSync(directory).find((each) => each.startsWith(`.${name}.`));
    if (draft !== undefined && existsSync(join(directory, draft, "pgdata", "base")))
      return join(directory, draft);
    await sleep(2);
  }
}

async function readAll(
  node: Node,
  ids: readonly string[],
): Promise<Map<string, Readonly<Record<string, unknown>> | null>> {
  const api = createApi();
  const found = new Map<string, Readonly<Record<string, unknown>> | null>();
  const left = [...ids];
  async function read(): Promise<void> {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const { status, body } = await api.ask({
        action: "read",
        node,
        method: "GET",
        path: `/v1/tasks/${id}`,
      });
      if (status !== 200 && status !== 404) throw new Error(`Task ${id} cannot be read: ${status}`);
      found.set(id, status === 200 && isRecord(body) ? body : null);
    }
  }
  await Promise.all(Array.from({ length: READERS }, read));
  return found;
}

async function readEnded({ node, query }: Server): Promise<RestoreRecord["endedBefore"]> {
  const rows = await query<{ id: string }>("select id from tasks where status in ('completed', 'failed')");
  const found = await readAll(
    node,
    rows.map(({ id }) => id),
  );
  return [...found].flatMap(([id, record]) => (record === null ? [] : [{ id, record }]));
}

async function waitForEnd({ query }: Server): Promise<void> {
  const untilMs = now() + ENDED_MS;
  for (;;) {
    const open = await query("select 1 from tasks where status not in ('completed', 'failed') limit 1");
    if (open.length === 0 || now() > untilMs) return;
    await sleep(250);
  }
}

async function countRows({ query }: Server): Promise<ReadonlyMap<string, number>> {
  const counts = STILL_TABLES.map(
    (name) => `select '${name}' as name, count(*)::integer as rows from ${name}`,
  );
  const rows = await query<{ name: string; rows: number }>(counts.join(" union all "));
  return new Map(rows.map((row) => [row.name, row.rows]));
}

const STATES = ["pending", "active", "waiting", "polling", "completed", "failed", "cancelled"];

async function readTallies({ query }: Server): Promise<RestoreRecord["tallies"]> {
  const sums = STATES.map((state) => `sum(${state})::integer as ${state}`).join(", ");
  return query(
    `select q.name || ' ' || s.state as of,
            coalesce((to_jsonb(c) ->> s.state)::integer, 0) as counted,
            (select count(*)::integer from tasks t where t.team_id = q.team_id and t.queue_id = q.id and t.status = s.state) as there
       from queues q
       left join (select team_id, queue_id, ${sums} from queue_tallies group by team_id, queue_id) c
              on c.team_id = q.team_id and c.queue_id = q.id
      cross join unnest($1::text[]) as s(state)`,
    [STATES],
  );
}
