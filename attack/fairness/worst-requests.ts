import { setTimeout as sleep } from "node:timers/promises";
import { CALL_LIMITS } from "../../packages/server/src/domain/call.ts";
import type { World } from "../../packages/server/test/server/access-world.ts";
import type { Answer, Stage } from "../scene.ts";

/** What makes a request to a route as expensive as a team can make it. The rest is what the access row says. */
export interface Worst {
  /** Instead of an object of its own for each request. */
  readonly named?: string;
  readonly path?: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const FLOWS = 990;
const OF_BATCH = 500;
const LARGE = 400_000;
/** Of the task that others join: nearly as large as a request. */
const LARGEST = 1_000_000;
const FAILURES = 5_000;
const GROUP = "wide-group";
const TARGET = "http://127.0.0.1:9/";
const DAY = 86_400;
const AGAIN_MS = 1_000;

const text = (length: number) => "x".repeat(length);
/** As long as a URL may be. */
const longUrl = (at: number) => `${TARGET}${at}/`.padEnd(CALL_LIMITS.url, "u");
const ENDPOINTS = Array.from({ length: 100 }, (_, at) => ({ name: `e${at}`, url: longUrl(at) }));
const JOINED = { key: "joined", mode: "first", window: DAY } as const;

/**
 * Open tasks in many flows, failed tasks, messages with large bodies, a task that others join, and a URL group of a hundred endpoints
 * with the longest URLs.
 */
export async function fillTeam(stage: Stage, { ours }: World): Promise<void> {
  const key = ours.liveKey;
  /** A machine with other work takes longer over the largest of these than a request waits: again then. */
  const must = async (method: string, path: string, body: unknown): Promise<Answer> => {
    for (;;) {
      const answer = await stage.request(method, path, { key, body });
      if (answer.status < 300) return answer;
      if (answer.status !== 503)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      await sleep(AGAIN_MS);
    }
  };
  const metadata = { order: text(200), customer: text(200) };
  const common = { targetUrl: TARGET, delay: DAY, metadata, tags: ["a", "b", "c"] };
  for (let made = 0; made < 6_000; made += OF_BATCH) {
    const tasks = Array.from({ length: OF_BATCH }, (_, at) => ({
      ...common,
      flow: { key: `k${(made + at) % FLOWS}` },
    }));
    accepted(await must("POST", "/v1/tasks/batch", { tasks }));
  }
  for (let made = 0; made < 6_000; made += OF_BATCH)
    accepted(
      await must("POST", "/v1/tasks/batch", { tasks: Array.from({ length: OF_BATCH }, () => common) }),
    );
  // As if their only attempt had failed, a minute apart, each with an error of its own.
  const failed = await stage.rows(
    `update tasks t set status = 'failed', list_key = 'failed', due_at = null, attempt_count = 1,
            completed_at = now() - interval '1 minute' * f.number, error = 'no answer ' || t.id, failure_reason = 'retries_exhausted'
       from (select team_id, id, row_number() over (order by id desc) as number from tasks
              where flow is null and status = 'pending' order by id desc limit $1) f
      where t.team_id = f.team_id and t.id = f.id returning 1`,
    [FAILURES],
  );
  if (failed.length !== FAILURES) throw new Error(`${failed.length} of ${FAILURES} tasks have failed`);
  await must("POST", "/v1/tasks", { ...common, body: text(LARGEST), dedupe: JOINED });
  for (let made = 0; made < 60; made += 20) {
    const message = { destination: TARGET, body: text(LARGE), headers: { "Upstash-Delay": "1d" } };
    await must(
      "POST",
      "/v2/batch",
      Array.from({ length: 20 }, () => message),
    );
  }
  await must("POST", `/v2/topics/${GROUP}/endpoints`, { endpoints: ENDPOINTS });
}

/** A batch answers 200 also where it refuses each item, which would show nothing. */
function accepted({ body }: { readonly body: unknown }): void {
  const { created, results } = body as { readonly created?: number; readonly results?: readonly object[] };
  const refused = created === 0 || results?.every((result) => "error" in result) === true;
  if (refused) throw new Error(`A batch was refused: ${JSON.stringify(body).slice(0, 300)}`);
}

/** Called once for each route before any load, because loads use up the limits of the team. Requests use several in turn. */
export async function worstOf(
  route: string,
  stage: Stage,
  { ours }: World,
): Promise<Worst | readonly Worst[]> {
  const message = { destination: TARGET, body: text(2_000), headers: { "Upstash-Delay": "1d" } };
  switch (route) {
    case "GET /v1/tasks":
      return { query: "?limit=100&metadata.order=nobody&tag=a" };
    case "GET /v1/flows":
      return { query: "?limit=1000" };
    case "GET /v1/stats/queues":
    case "GET /v1/stats/failures":
      return { query: "?range=30d" };
    case "GET /v1/audit":
      return { query: "?limit=100" };
    case "POST /v1/tasks":
      return { body: { targetUrl: TARGET, delay: DAY, body: text(LARGE) } };
    case "POST /v1/tasks/batch":
      return [
        { targetUrl: TARGET, delay: DAY, dedupe: JOINED },
        { targetUrl: TARGET, delay: DAY, body: text(1_000), tags: ["x"] },
      ].map((task) => ({ body: { tasks: Array.from({ length: 1_000 }, () => task) } }));
    case "POST /v1/tasks/bulk":
      return { body: { action: "retry", filter: { tag: "a", status: "cancelled" }, dry_run: true } };
    case "GET /v1/flows/:key":
    case "GET /v2/flowControl/:flowControlKey":
      return { named: "k1" };
    case "POST /v2/publish/*":
      return {
        path: `/v2/publish/${GROUP}`,
        headers: { "Upstash-Delay": "1d" },
        body: { text: text(2_000) },
      };
    case "POST /v2/enqueue/:queueName/*":
      return {
        path: `/v2/enqueue/orders/${GROUP}`,
        headers: { "Upstash-Delay": "1d" },
        body: { text: text(2_000) },
      };
    case "POST /v2/batch":
      return [
        { body: Array.from({ length: 10 }, () => ({ ...message, destination: GROUP })) },
        { body: Array.from({ length: 1_000 }, () => message) },
      ];
    case "GET /v2/logs":
    case "GET /v2/events":
      return { query: "?count=1000" };
    case "GET /v2/dlq":
      return { query: "?responseStatus=418" };
    case "PUT /v1/url-groups/:name":
      return { body: { endpoints: ENDPOINTS } };
    case "POST /v2/topics/:name/endpoints":
      return { path: `/v2/topics/${GROUP}/endpoints`, body: { endpoints: ENDPOINTS } };
    case "DELETE /v1/queues/:queue_name":
    case "DELETE /v2/queues/:queueName":
      return { named: await fullQueue(stage, ours.liveKey) };
    default:
      return {};
  }
}

let queues = 0;

/** One with a thousand tasks: the first deletion finds them, those beside it wait for it or find nothing. */
async function fullQueue(stage: Stage, key: string): Promise<string> {
  queues += 1;
  const queue = `full-${queues}`;
  await stage.must("POST", "/v1/queues", { key, body: { name: queue } });
  const tasks = Array.from({ length: 1_000 }, () => ({ queue, targetUrl: TARGET, delay: DAY }));
  accepted(await stage.must("POST", "/v1/tasks/batch", { key, body: { tasks } }));
  return queue;
}
