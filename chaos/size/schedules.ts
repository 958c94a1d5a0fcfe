import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ask, sampleOthers } from "./backlog.ts";
import { type SceneOptions, type SceneReport, seconds, share } from "./scene.ts";
import { createServer, makeDirectory, removeDirectory, type Server } from "./server.ts";
import { startPromptTarget } from "./target.ts";

/** Of a hundred tasks of another queue so many are called within a second. */
const OTHERS_SHARE = 0.99;
const OTHERS_MS = 1_000;
/** From the making of the schedules until they are due, and from then on until all have fired. */
const AHEAD_MS = 20_000;
const FIRED_MS = 60_000;

interface Fired {
  readonly tasks: number;
  readonly schedules: number;
  readonly lastMs: number | null;
}

/** So many schedules of one team are due in the same second: each fires once, and another queue's tasks start in time. */
export function dueSchedules(count: number) {
  return async ({ distDir, say }: SceneOptions): Promise<SceneReport> => {
    const directory = await makeDirectory();
    const server = await createServer({ distDir, directory, dataDir: join(directory, "data") });
    const target = await startPromptTarget();
    try {
      await server.node.start();
      for (const queue of [{ name: "scheduled", concurrency: 100 }, { name: "other" }])
        await ask(server.node, "/v1/queues", queue);
      const dueAt = await makeSchedules(server, `${target.url}/scheduled`, count);
      say(`${count} schedules are due in ${seconds(dueAt - Date.now())}`);
      await sleep(dueAt - Date.now() - 1_000);
      const sampling = sampleOthers(server.node, target, 30, []);
      const fired = await waitForFirings(server, dueAt, count);
      const waits = await sampling;
      const p99 = share(waits, OTHERS_SHARE);
      return {
        lines: [
          `${fired.schedules} schedules made ${fired.tasks} tasks, the last ${seconds(fired.lastMs ?? Number.NaN)} after its time`,
          `another queue's ${waits.length} tasks, from the request to the call: half within ${Math.round(share(waits, 0.5))} ms, 99 % within ${Math.round(p99)} ms, all within ${Math.round(share(waits, 1))} ms`,
        ],
        violations: [
          ...(fired.schedules === count && fired.tasks === count
            ? []
            : [`${fired.schedules} of ${count} schedules made ${fired.tasks} tasks`]),
          ...(p99 > OTHERS_MS ? [`99 % of another queue's tasks started within ${seconds(p99)}`] : []),
        ],
        skipped: null,
      };
    } finally {
      target.stop();
      await server.stop();
      removeDirectory(directory);
    }
  };
}

/** One comes through the API; the others are copies of it. Returns when all are due. */
async function makeSchedules({ node, query }: Server, webhook_url: string, count: number): Promise<number> {
  const dueAt = new Date(Math.ceil((Date.now() + AHEAD_MS) / 1_000) * 1_000);
  const daily = [dueAt.getUTCSeconds(), dueAt.getUTCMinutes(), dueAt.getUTCHours(), "* * *"].join(" ");
  const schedule = { name: "daily", cron: daily, task: { queue: "scheduled", webhook_url } };
  await ask(node, "/v1/schedules", schedule);
  await query(
    `insert into schedules
     select c.*
       from schedules s
      cross join generate_series(1, $1::integer) copy
      cross join lateral jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'name', 'daily-' || copy)) c`,
    [count - 1],
  );
  await query("analyze schedules");
  return dueAt.getTime();
}

/** Until all have fired, or have had time to. */
async function waitForFirings({ query }: Server, dueAt: number, count: number): Promise<Fired> {
  for (;;) {
    const [fired] = await query<Fired>(
      `select count(*)::integer as tasks, count(distinct schedule_id)::integer as schedules,
              (extract(epoch from max(created_at)) * 1000)::float8 - $1 as "lastMs"
         from tasks where schedule_id is not null`,
      [dueAt],
    );
    if (fired !== undefined && (fired.schedules >= count || Date.now() > dueAt + FIRED_MS)) return fired;
    await sleep(1_000);
  }
}
