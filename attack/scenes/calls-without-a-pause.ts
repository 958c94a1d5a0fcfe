import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer, Scene, Stage } from "../scene.ts";

/** What the plan free allows. */
const RETRIES = 10;
const RETRY_MS = 1_000;
const POLL_MS = 5_000;
const CALLS_A_SECOND = 10;
/** A timer may fire a little early, and what was sent at intervals arrives at others. */
const SLACK_MS = 50;
const SLACK_CALLS = 10;
const WINDOW_MS = 5_000;

const FLOOD = 400;
/** When each path of the target was called. */
const callsAt = new Map<string, number[]>();

function note({ url = "" }: IncomingMessage, response: ServerResponse, status: number): void {
  callsAt.set(url, [...(callsAt.get(url) ?? []), performance.now()]);
  response.writeHead(status, { "content-type": "application/json" }).end('{"status":"on its way"}');
}

/** Asks for the worst; where that is refused, for the worst that the plan allows. */
async function worst(
  stage: Stage,
  path: string,
  key: string,
  asked: object,
  allowed: object,
): Promise<Answer> {
  const answer = await stage.request("POST", path, { key, body: asked });
  return answer.status < 300 ? answer : stage.must("POST", path, { key, body: allowed });
}

export const scene: Scene = {
  what: "free teams have a request become as many calls, polls and calls a second to one host as they can",
  seconds: 20,
  async prepare(stage) {
    const { url } = stage.target;
    stage.target.answer("/retried", (request, response) => note(request, response, 500));
    stage.target.answer("/polled", (request, response) => note(request, response, 200));
    stage.target.answer("/flooded", (request, response) => note(request, response, 200));
    const { key } = await stage.team({ owner: "mallory@example.com" });
    const queue = { name: "wide", concurrency: 100, retry_backoff: "fixed" };
    await worst(stage, "/v1/queues", key, { ...queue, retry_delay: 0 }, { ...queue, retry_delay: 1 });
    // Another person, or the flood would hold up what the first one is to be watched at.
    const { key: floodKey } = await stage.team({ owner: "trudy@example.com" });
    await stage.must("POST", "/v1/queues", { key: floodKey, body: queue });
    const retried = { queue: "wide", webhook_url: `${url}/retried`, payload: {} };
    const polled = (interval: number, maxDuration: number) => ({
      targetUrl: `${url}/ok`,
      body: "{}",
      pollConfig: {
        urlTemplate: `${url}/polled`,
        interval,
        maxDuration,
        statusPath: "status",
        doneValues: ["done"],
        failValues: ["failed"],
      },
    });
    const flood = Array.from({ length: FLOOD }, () => ({
      queue: "wide",
      webhook_url: `${url}/flooded`,
      payload: {},
    }));
    return async () => {
      await worst(
        stage,
        "/v1/tasks",
        key,
        { ...retried, max_retries: 100 },
        { ...retried, max_retries: RETRIES },
      );
      await worst(stage, "/v1/tasks", key, polled(1, 86_400), polled(POLL_MS / 1000, 3_600));
      await stage.must("POST", "/v1/tasks/batch", { key: floodKey, body: { tasks: flood } });
    };
  },
  async check() {
    const retried = callsAt.get("/retried") ?? [];
    const polled = callsAt.get("/polled") ?? [];
    const flooded = callsAt.get("/flooded") ?? [];
    const misses = [
      ...tooClose("retries", retried, RETRY_MS),
      ...tooClose("polls", polled, POLL_MS),
      ...(retried.length > RETRIES + 1 ? [`one task was called ${retried.length} times`] : []),
    ];
    // A second's worth may leave at once, and the others evenly after it; a machine that is busy bunches them.
    const inWindow = (at: number) => flooded.filter((other) => other >= at && other < at + WINDOW_MS).length;
    const most = Math.max(...flooded.map(inWindow));
    const allowed = CALLS_A_SECOND * (1 + WINDOW_MS / 1000) + SLACK_CALLS;
    if (most > allowed) misses.push(`one host was called ${most} times within ${WINDOW_MS / 1000} s`);
    const enough = retried.length >= 2 && polled.length >= 2 && flooded.length >= 10 * CALLS_A_SECOND;
    return enough ? misses : [...misses, "too few calls were made: the scene shows nothing"];
  },
};

function tooClose(what: string, at: readonly number[], leastMs: number): string[] {
  const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  const least = Math.min(...gaps);
  return least < leastMs - SLACK_MS ? [`two ${what} were ${Math.round(least)} ms apart`] : [];
}
