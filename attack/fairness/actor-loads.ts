import type { Scene } from "../scene.ts";
import { type Attacker, actorLoad, attacker, DAY, times, untilAborted } from "./load.ts";

const TEAMS = 5;
/** In place of what time would bring: every schedule of the attackers is due now. */
const ALL_DUE = "update schedules set next_run_at = now() - interval '1 second'";
const FIRED = "select count(*) from tasks where schedule_id is not null";
/** Only the first task of a firing to a URL group names its schedule. */
const MESSAGES = "select count(*) from tasks where message is not null";
/** A team that calls many hosts is not slowed down by it. */
const LIFTED_FOR_SPEED = ["callsPerSecondToHost"];

const text = (length: number) => "x".repeat(length);

/** By the name of the scene; `ACTORS_OF` says which actors each of them loads. */
export const ACTOR_LOADS: Readonly<Record<string, Scene>> = {
  "load-schedules": actorLoad({
    what: "five free teams of one person have twenty schedules each, with tasks of 200 kB, that are due every second",
    async prepare(stage) {
      for (const _ of times(TEAMS, String)) {
        const { must } = await attacker(stage);
        const task = { targetUrl: `${stage.target.url}/ok`, method: "POST", body: text(200_000) };
        for (const name of times(20, (at) => `s${at}`))
          await must("POST", "/v1/schedules", { name, cron: "0 0 1 1 *", task });
      }
      return (signal) => untilAborted(signal, 1_000, () => stage.rows(ALL_DUE));
    },
    worked: FIRED,
    least: 100,
  }),
  "load-groups": actorLoad({
    what: "a free team has twenty schedules to a URL group of a hundred endpoints that are due every two seconds",
    async prepare(stage) {
      const { must } = await attacker(stage);
      const endpoints = times(100, (at) => ({ name: `e${at}`, url: `${stage.target.url}/ok?${at}` }));
      await must("POST", "/v2/topics/wide/endpoints", { endpoints });
      for (const id of times(20, (at) => `g${at}`))
        await must(
          "POST",
          "/v2/schedules/wide",
          { to: "all" },
          { "Upstash-Cron": "0 0 1 1 *", "Upstash-Schedule-Id": id },
        );
      return (signal) => untilAborted(signal, 2_000, () => stage.rows(ALL_DUE));
    },
    worked: MESSAGES,
    least: 500,
  }),
  "load-webhooks": actorLoad({
    what: "a free team has five webhooks that hang, and 3,000 tasks that tell of themselves",
    async prepare(stage) {
      const team = await attacker(stage, LIFTED_FOR_SPEED);
      for (const at of times(5, String))
        await team.must("POST", "/v1/webhooks", {
          url: `${stage.target.url}/hang?${at}`,
          events: ["task.created", "task.started", "task.completed"],
        });
      return () => team.create(tasksTo(stage.target.url, 3_000));
    },
    worked: "select count(*) from webhook_deliveries",
  }),
  "load-callbacks": actorLoad({
    what: "a free team publishes 3,000 messages whose answers have callbacks",
    async prepare(stage) {
      const team = await attacker(stage, LIFTED_FOR_SPEED);
      const headers = { "Upstash-Callback": `${stage.target.url}/ok`, "Upstash-Method": "POST" };
      return () =>
        messages(team, 3_000, (at) => ({ destination: `${stage.target.url}/ok?${at}`, headers, body: "{}" }));
    },
    worked: "select count(*) from tasks where message is not null and status = 'completed'",
    least: 500,
  }),
  "load-dedupe": actorLoad({
    what: "a free team publishes 5,000 messages with deduplication ids, each twice",
    async prepare(stage) {
      const team = await attacker(stage);
      const item = (at: number) => ({
        destination: `${stage.target.url}/ok`,
        headers: { "Upstash-Deduplication-Id": `d${at >> 1}`, "Upstash-Delay": "1d" },
        body: "{}",
      });
      return () => messages(team, 10_000, item);
    },
    worked: "select count(*) from message_keys",
    least: 1_000,
  }),
  "load-breakers": actorLoad({
    what: "a free team has 2,000 tasks in a queue with a breaker, to forty hosts that fail",
    async prepare(stage) {
      const team = await attacker(stage, LIFTED_FOR_SPEED);
      const breaker = { failures: 5, cooldown: 5 };
      await team.must("POST", "/v1/queues", { name: "broken", concurrency: 100, breaker });
      const port = new URL(stage.target.url).port;
      const task = (at: number) => ({
        queue: "broken",
        targetUrl: `http://127.0.0.${(at % 40) + 2}:${port}/error`,
        method: "POST",
        maxRetries: 5,
        retryDelay: 1,
      });
      return () => team.create(times(2_000, task));
    },
    worked: "select count(*) from breakers where opened_at is not null",
  }),
  "load-flows": actorLoad({
    what: "a free team creates 9,000 tasks in 900 flows of one call at a time",
    async prepare(stage) {
      const team = await attacker(stage);
      const task = (at: number) => ({
        targetUrl: `${stage.target.url}/ok`,
        method: "POST",
        flow: { key: `k${at % 900}`, concurrency: 1 },
      });
      return () => team.create(times(9_000, task));
    },
    worked: "select count(*) from tasks where flow is not null and status = 'completed'",
    least: 20,
  }),
  "load-lines": actorLoad({
    what: "a free team has 9,000 tasks in twenty ordered queues and twenty with a rate",
    async prepare(stage) {
      const team = await attacker(stage);
      for (const at of times(20, String)) {
        await team.must("POST", "/v1/queues", { name: `line${at}`, ordered: true });
        await team.must("POST", "/v1/queues", { name: `rate${at}`, rate: 5, rate_period: 1 });
      }
      const task = (at: number) => ({
        queue: `${at % 2 === 0 ? "line" : "rate"}${(at >> 1) % 20}`,
        targetUrl: `${stage.target.url}/ok`,
        method: "POST",
      });
      return () => team.create(times(9_000, task));
    },
    worked:
      "select count(*) from tasks t join queues q on q.id = t.queue_id where q.name like 'line%' and t.status = 'completed'",
    least: 20,
  }),
  "load-deadlines": actorLoad({
    what: "a free team has 9,000 tasks whose wait for a callback ends in the same second",
    seconds: 15,
    async prepare(stage) {
      const team = await attacker(stage, LIFTED_FOR_SPEED);
      const task = { targetUrl: `${stage.target.url}/ok`, method: "POST", delay: DAY, waitForCallback: true };
      await team.create(times(9_000, () => task));
      return () =>
        stage
          .rows(`update tasks set deadline_at = now(), due_at = null, status = 'waiting', list_key = 'waiting'
                     where wait_for_callback`)
          .then(() => {});
    },
    worked: "select count(*) from tasks where wait_for_callback and status = 'failed'",
    least: 1_000,
  }),
  "load-sandbox": actorLoad({
    what: "a free team has 5,000 simulated tasks in its sandbox, and advances the clock",
    async prepare(stage) {
      const team = await attacker(stage);
      const made = await team.must("POST", "/v1/apikeys", { name: "Sandbox", environment: "test" });
      const { key } = (made as { apiKey: { key: string } }).apiKey;
      const task = (at: number) => ({
        targetUrl: "https://shop.example/",
        method: "POST",
        delay: 60 + (at % 500),
        simulate: { outcome: "fail", attempts: 3 },
      });
      for (let at = 0; at < 5_000; at += 500)
        await stage.must("POST", "/v1/tasks/batch", {
          key,
          body: { tasks: times(500, (part) => task(at + part)) },
        });
      return (signal) =>
        untilAborted(signal, 0, () =>
          stage.request("POST", "/v1/sandbox/advance", { key, body: { seconds: 60 } }),
        );
    },
    worked: "select count(*) from tasks where sandbox and attempt_count > 0",
    least: 100,
  }),
  "load-janitor": actorLoad({
    what: "9,000 tasks of a free team end their retention at once",
    // The janitor looks once a minute.
    seconds: 65,
    env: { BELLHOP_RETENTION_DAYS: "1" },
    async prepare(stage) {
      const team = await attacker(stage);
      await team.create(tasksTo(stage.target.url, 9_000, DAY));
      // Ids begin with the time of creation: the janitor looks only at those of a time before the retention.
      await stage.rows(
        `update tasks set status = 'completed', list_key = 'begun', due_at = null, completed_at = now() - interval '9 days',
                id = ('0180a0a0-0000-7000-8000-' || right(id::text, 12))::uuid where due_at > now() + interval '1 hour'`,
      );
      return async () => {};
    },
    worked: "select 9000 - count(*) from tasks where completed_at < now() - interval '8 days'",
    least: 1_000,
  }),
};

function tasksTo(url: string, count: number, delay = 0): object[] {
  return times(count, (at) => ({
    targetUrl: `${url}/ok?${at}`,
    method: "POST",
    ...(delay > 0 && { delay }),
  }));
}

async function messages(team: Attacker, count: number, make: (at: number) => object): Promise<void> {
  for (let at = 0; at < count; at += 500)
    await team.patiently(
      "POST",
      "/v2/batch",
      times(500, (part) => make(at + part)),
    );
}
