import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Settings } from "../../packages/server/src/postgres/settings.ts";
import type { PromiseName } from "../checker/violation.ts";
import type { Weather } from "./storm.ts";

interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A bug that is put in on purpose, to see it caught. */
export interface Plant {
  readonly what: string;
  /** The promises it breaks: it counts as found when one of them is, whatever else a run complains of. */
  readonly breaks: readonly PromiseName[];
  /** In the built server; each text must occur exactly once. */
  readonly edits: readonly Edit[];
  readonly settings?: Settings;
  /** The faults under which the bug does harm. */
  readonly weather: Weather;
}

const CALM: Weather = { processes: {}, database: {} };

export const PLANTS: Readonly<Record<string, Plant>> = {
  "no-fence": {
    what: "a verdict counts even if another node holds the task",
    breaks: ["D"],
    edits: [
      {
        file: "store/tasks/task-settlements.js",
        find: "t.team_id = j.team_id and t.id = j.id and t.fence = j.fence",
        replace: "t.team_id = j.team_id and t.id = j.id",
      },
    ],
    weather: { processes: {}, database: { "stall-past-lease": 1 } },
  },
  "all-slots": {
    what: "every node takes all slots of a queue",
    breaks: ["E"],
    edits: [
      {
        file: "store/tasks/queue-slots.js",
        find: "greatest(0, least(concurrency - taken, case when contended then share + one_more::integer else concurrency end)) as slots",
        replace: "concurrency as slots",
      },
    ],
    weather: CALM,
  },
  "attempt-not-recorded": {
    what: "a closed attempt is not written into the task",
    breaks: ["attempts"],
    edits: [
      {
        file: "store/tasks/task-settlements.js",
        find: "attempts = t.attempts || j.attempt",
        replace: "attempts = t.attempts",
      },
    ],
    weather: CALM,
  },
  "call-before-commit": {
    what: "a task that finds a free slot is called while its insert is under way",
    breaks: ["C"],
    edits: [
      {
        file: "engine/intake.js",
        find: "const answers = await store(tasks, reservations, workerId);",
        replace: `for (const [index, task] of tasks.entries()) {
            const reservation = reservations[index];
            if (reservation === null || reservation === undefined) continue;
            deps.start(firstClaim(task, { queueId: reservation.queueId, createdAt: new Date(), maxRetries: task.maxRetries ?? 2,
                backoff: task.backoff ?? "fixed", retryDelaySeconds: 1, timeoutSeconds: task.timeoutSeconds ?? 3 }, workerId), reservation.local);
        }
        const answers = await store(tasks, reservations, workerId);`,
      },
      {
        file: "engine/intake.js",
        find: "deps.start(claim, reservation.local);",
        replace: "",
      },
    ],
    weather: CALM,
  },
  "stale-start": {
    what: "a call starts without asking whether the lease is still held, or how old its claim is",
    breaks: ["C", "D", "E", "F", "twice"],
    edits: [
      {
        file: "engine/attempts.js",
        find: "return lease.isHeld() && claim.workerId === lease.workerId;",
        replace: "return true;",
      },
      {
        file: "engine/unanswered.js",
        find: "isTooOld: () => time.monotonicMs() - askedMs > TOO_OLD_MS,",
        replace: "isTooOld: () => false,",
      },
    ],
    weather: { processes: { "pause-with-answer": 1 }, database: {} },
  },
  "flow-line-not-held": {
    what: "the next task of an ordered flow does not wait for the end of the one before",
    breaks: ["line"],
    edits: [
      {
        file: "store/tasks/flow-line-statement.js",
        find: "not l.sandbox and l.flow = g.key",
        replace: "not l.sandbox and l.flow = g.key and false",
      },
    ],
    weather: CALM,
  },
  "no-places": {
    what: "a claim does not count the places that calls of a flow take",
    breaks: ["H"],
    edits: [
      {
        file: "store/tasks/flow-claim-statement.js",
        find: "when held < concurrency then concurrency - held",
        replace: "when true then concurrency",
      },
    ],
    weather: CALM,
  },
  "no-deadline": {
    what: "a statement may take for ever",
    breaks: ["F", "rest", "twice", "answers", "process"],
    edits: [
      {
        file: "postgres/database.js",
        find: "const STATEMENT_MS = 1_500;",
        replace: "const STATEMENT_MS = 2_000_000;",
      },
    ],
    weather: { processes: {}, database: { hole: 2, late: 1 } },
  },
  "firings-left-out": {
    what: "a schedule leaves out the times of the next five seconds after a firing",
    breaks: ["schedules"],
    edits: [
      {
        file: "features/schedules/domain.js",
        find: "next: times.next(now)",
        replace: "next: times.next(new Date(now.getTime() + 5000))",
      },
    ],
    weather: { processes: {}, database: { "database-freeze": 1 } },
  },
  "turn-not-counted": {
    what: "a turn of a bulk action changes its tasks in a transaction of its own",
    breaks: ["bulks"],
    edits: [
      {
        file: "features/bulk-actions/worker.js",
        find: "const changed = await change(sql, turn, ids);",
        replace: "const changed = await database.transaction((own) => change(own, turn, ids));",
      },
    ],
    weather: CALM,
  },
  "wrong-result": {
    what: "every tenth result is that of the task that was completed before",
    breaks: ["values"],
    edits: [
      {
        file: "store/tasks/task-settlements.js",
        find: "resultColumn(verdict.result, attempt)",
        replace: "resultColumn(earlierResult(verdict.result), attempt)",
      },
      {
        file: "store/tasks/task-settlements.js",
        find: "function resultColumn(",
        replace: `const results = [];
function earlierResult(result) {
    results.push(result);
    return results.length % 10 === 0 ? results.at(-2) : result;
}
function resultColumn(`,
      },
    ],
    weather: CALM,
  },
  "wrong-payload": {
    what: "every tenth call has the payload of the call before it",
    breaks: ["values"],
    edits: [
      {
        file: "outbound/caller.js",
        find: "return send({ origin, path, method, headers: merged, body }, options);",
        replace: `if (path.startsWith("/call/")) {
            bodies.push(body);
            if (bodies.length % 10 === 0) body = bodies.at(-2);
        }
        return send({ origin, path, method, headers: merged, body }, options);`,
      },
      {
        file: "outbound/caller.js",
        find: "    function makeCall(",
        replace: "    const bodies = [];\n    function makeCall(",
      },
    ],
    weather: CALM,
  },
  "callback-twice": {
    what: "a callback that was used is accepted again",
    breaks: ["callbacks"],
    edits: [
      {
        file: "store/tasks/callbacks.js",
        find: "decode($1, 'hex') and f.status in ('waiting', 'polling')",
        replace: "decode($1, 'hex') and f.status in ('waiting', 'polling', 'completed')",
      },
      {
        file: "store/tasks/callbacks.js",
        find: "t.id = found.id and t.status in ('waiting', 'polling')",
        replace: "t.id = found.id",
      },
      { file: "store/tasks/callbacks.js", find: `callback: "spent", `, replace: "" },
    ],
    weather: CALM,
  },
  "event-lost": {
    what: "a statement on every task's way does not ask whether somebody listens",
    breaks: ["events"],
    edits: [
      {
        file: "store/tasks/event-writes.js",
        find: `const UNHEARD = "not exists (select 1 from listeners where until > now())";`,
        replace: `const UNHEARD = "true";`,
      },
    ],
    weather: CALM,
  },
  "events-out-of-order": {
    what: "of a task that is called at once its start is told before its creation",
    breaks: ["events"],
    edits: [
      {
        file: "store/tasks/event-reads.js",
        find: `["task.created", id, ...told], ["task.started", id, ...told]`,
        replace: `["task.started", id, ...told], ["task.created", id, ...told]`,
      },
    ],
    weather: CALM,
  },
  "webhook-lost": {
    what: "a delivery that its receiver refuses is not tried again",
    breaks: ["webhooks"],
    edits: [
      {
        file: "domain/delivery.js",
        find: "responseCode >= 200 && responseCode < 300",
        replace: "responseCode >= 200 && responseCode < 600",
      },
    ],
    weather: CALM,
  },
  "synchronous-commit-off": {
    what: "the database confirms what is not on disk yet",
    breaks: ["A", "C"],
    edits: [],
    // Written late on purpose: a crash within those seconds shows what a power cut would.
    settings: { synchronous_commit: "off", wal_writer_delay: "10s", wal_writer_flush_after: "1GB" },
    weather: { processes: {}, database: { "database-kill": 1 } },
  },
};

/**
 * A copy of the built server, with the bug in it if one is to be planted: the product has no switch for any of this. It
 * fails loudly when a text is not found: the code has changed, and a plant that plants nothing would prove nothing.
 * Returns its main file.
 */
export async function copyServer(
  distDir: string,
  directory: string,
  plant: Pick<Plant, "edits"> | null,
): Promise<string> {
  const copy = join(directory, "packages", "server");
  await mkdir(copy, { recursive: true });
  const isLoaded = (path: string) => !/\.(map|d\.ts)$|\/dist\/bundle$/.test(path);
  await cp(distDir, join(copy, "dist"), { recursive: true, filter: isLoaded });
  await cp(join(distDir, "..", "package.json"), join(copy, "package.json"));
  await symlink(join(distDir, "..", "..", "..", "node_modules"), join(directory, "node_modules"));
  for (const { file, find, replace } of plant?.edits ?? []) {
    const path = join(copy, "dist", file);
    const text = await readFile(path, "utf8");
    const count = text.split(find).length - 1;
    if (count !== 1)
      throw new Error(`The plant does not fit ${file}: its text is there ${count} times:\n${find}`);
    await writeFile(
      path,
      text.replace(find, () => replace),
    );
  }
  return join(copy, "dist", "main.js");
}
