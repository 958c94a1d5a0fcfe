import type { Role } from "../../src/domain/identity/role.ts";
import type { Scope } from "../../src/domain/identity/scope.ts";
import { parseTaskId } from "../../src/domain/task-id.ts";
import type { World, WorldTeam } from "./access-world.ts";

/**
 * What docs/api.md says of each route, written down a second time and by hand: the declaration in the route itself is
 * what is being tested.
 */
export interface AccessRow {
  /** What an application needs; `any` credential; a `session` only; `public` needs none. */
  readonly scope: Scope | "any" | "session" | "public";
  /** The least that may. */
  readonly role?: Role;
  /** Of the team itself, and so out of reach for its test keys. */
  readonly live?: true;
  /** Of its sandbox alone, and so refused to every other credential. */
  readonly test?: true;
  readonly body?: unknown;
  /** What it cannot do without. */
  readonly query?: string;
  /** The path where the pattern has a wildcard. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The session that asks is gone afterwards. */
  readonly endsSession?: true;
  /** What one who may is answered. */
  readonly status: number;
  /** Makes what the request is about, in this team, and returns how the path names it. */
  readonly make?: (world: World, team: WorldTeam) => Promise<string>;
  /** The same in the sandbox of the team: all of its kind that a test key reaches. */
  readonly makeSandbox?: (world: World, team: WorldTeam) => Promise<string>;
  /** The same for a test key alone: it has its own of these, which no other credential sees. */
  readonly makeTest?: (world: World, team: WorldTeam) => Promise<string>;
  /** Named in the path or, with `bodyOf`, in the body. */
  readonly bodyOf?: (id: string) => unknown;
  /** A name of the same form that nobody has. */
  readonly unknown?: string;
}

const UNUSED = "01k9z3mxe5f8hrk3yv5pzq8c2d";
let made = 0;
const newName = () => {
  made += 1;
  return `made-${made}`;
};

const makeQueue: AccessRow["make"] = async ({ call }, { liveKey }) => {
  const name = newName();
  await call(liveKey, "POST", "/v1/queues", { name });
  return name;
};
const TASK = { queue: "default", webhook_url: "http://127.0.0.1:9/", delay: 3600 };
const makeTask: AccessRow["make"] = async ({ call }, { liveKey }) =>
  (await call(liveKey, "POST", "/v1/tasks", TASK)).json.id;
const makeSandboxTask: AccessRow["make"] = async ({ call }, { testKey }) =>
  (await call(testKey, "POST", "/v1/tasks", TASK)).json.id;
const makeCancelled =
  (key: "liveKey" | "testKey"): NonNullable<AccessRow["make"]> =>
  async ({ call }, team) => {
    const { id } = (await call(team[key], "POST", "/v1/tasks", TASK)).json;
    await call(team[key], "POST", `/v1/tasks/${id}/cancel`);
    return id;
  };
const makeNotified =
  (key: "liveKey" | "testKey"): NonNullable<AccessRow["make"]> =>
  async ({ call, giveUpNotifications }, team) => {
    const task = { ...TASK, on_complete_url: "http://127.0.0.1:9/" };
    const { id } = (await call(team[key], "POST", "/v1/tasks", task)).json;
    await call(team[key], "POST", `/v1/tasks/${id}/cancel`);
    await giveUpNotifications();
    return id;
  };
const makeFailed =
  (key: "liveKey" | "testKey"): NonNullable<AccessRow["make"]> =>
  async ({ call, fail }, team) => {
    const { id } = (await call(team[key], "POST", "/v1/tasks", TASK)).json;
    await fail(parseTaskId(id) ?? "");
    return id;
  };
const WEBHOOK = { url: "http://127.0.0.1:9/", events: ["task.completed"] };
const aWebhook: Pick<AccessRow, "make" | "unknown"> = {
  make: async ({ call }, { liveKey }) =>
    (await call(liveKey, "POST", "/v1/webhooks", WEBHOOK)).json.webhook.id,
  unknown: `wh_${UNUSED}`,
};
const ALERT = { name: "Made", when: { kind: "webhook_disabled" }, notify: [{ url: "http://127.0.0.1:9/" }] };
const anAlert: Pick<AccessRow, "make" | "unknown"> = {
  make: async ({ call }, { liveKey }) => (await call(liveKey, "POST", "/v1/alerts", ALERT)).json.alert.id,
  unknown: `alr_${UNUSED}`,
};
const aDelivery: Pick<AccessRow, "make" | "unknown"> = {
  async make({ call, giveUpDeliveries }, { liveKey }) {
    const { id } = (await call(liveKey, "POST", "/v1/webhooks", WEBHOOK)).json.webhook;
    const { delivery } = (await call(liveKey, "POST", `/v1/webhooks/${id}/test`)).json;
    await giveUpDeliveries();
    return `${id} ${delivery.id}`;
  },
  unknown: `wh_${UNUSED} whd_${UNUSED}`,
};
const makeToken =
  (key: "liveKey" | "testKey"): NonNullable<AccessRow["make"]> =>
  async ({ call }, team) =>
    (await call(team[key], "POST", "/v1/tokens", { name: "Made", value: "Bearer made" })).json.token.id;
const aToken = { make: makeToken("liveKey"), makeTest: makeToken("testKey"), unknown: `tok_${UNUSED}` };
const makeKey: AccessRow["make"] = async ({ call }, { liveKey }) =>
  (await call(liveKey, "POST", "/v1/apikeys", { name: "Made" })).json.apiKey.id;
const makeMember: AccessRow["make"] = (_world, team) => team.newMember();
const makeInvitation: AccessRow["make"] = async ({ call }, { liveKey }) => {
  const email = `${newName()}@example.test`;
  return (await call(liveKey, "POST", "/v1/team/invitations", { email })).json.invitation.id;
};
const APPLICATION = { name: "Made", scopes: ["tasks:read"], grantTypes: ["client_credentials"] };
const makeApplication: AccessRow["make"] = async ({ call }, { liveKey }) =>
  (await call(liveKey, "POST", "/v1/oauth/applications", APPLICATION)).json.application.clientId;
const makeAuthorization: AccessRow["make"] = (_world, team) => team.newAuthorization("Made");

const SCHEDULED = { cron: "0 0 1 1 *", task: TASK };
const makeSchedule: AccessRow["make"] = async ({ call }, { liveKey }) =>
  (await call(liveKey, "POST", "/v1/schedules", { name: newName(), ...SCHEDULED })).json.schedule.id;
const makeSandboxSchedule: AccessRow["make"] = async ({ call }, { testKey }) =>
  (await call(testKey, "POST", "/v1/schedules", { name: newName(), ...SCHEDULED })).json.schedule.id;

const aSchedule = { make: makeSchedule, unknown: `sch_${UNUSED}`, makeTest: makeSandboxSchedule };
const makeFlow =
  (key: "liveKey" | "testKey"): NonNullable<AccessRow["make"]> =>
  async ({ call }, team) => {
    const name = newName();
    await call(team[key], "PUT", `/v1/flows/${name}`, { concurrency: 1 });
    return name;
  };
const aFlow = { make: makeFlow("liveKey"), makeTest: makeFlow("testKey"), unknown: "nobody-has-this" };
/** Every team may name any flow, and any new URL group. */
const anyName = { make: async () => newName() };
const aBreaker: Pick<AccessRow, "make" | "unknown"> = {
  async make({ openBreaker }, team) {
    const host = `${newName()}.example`;
    await openBreaker(team, host);
    return host;
  },
  unknown: "nobody-has-this",
};
const aQueue = { make: makeQueue, unknown: "nobody-has-this" };
const aTask = { make: makeTask, makeSandbox: makeSandboxTask, unknown: `task_${UNUSED}` };
/** It touches none of its tasks, and takes seconds to say so: until then it can be stopped. */
const makeBulk =
  (key: "liveKey" | "testKey"): NonNullable<AccessRow["make"]> =>
  async ({ call }, team) => {
    const tag = newName();
    const tasks = Array(4).fill({ ...TASK, tags: [tag] });
    await call(team[key], "POST", "/v1/tasks/batch", { tasks });
    const bulk = { action: "retry", filter: { tag }, rate: 1 };
    return (await call(team[key], "POST", "/v1/tasks/bulk", bulk)).json.bulk.id;
  };
const aBulk = { make: makeBulk("liveKey"), makeSandbox: makeBulk("testKey"), unknown: `bulk_${UNUSED}` };
const MESSAGE_TO = "http://127.0.0.1:9/";
const makeMessage =
  (key: "liveKey" | "testKey"): NonNullable<AccessRow["make"]> =>
  async ({ call }, team) => {
    const message = { destination: MESSAGE_TO, headers: { "Upstash-Delay": "1h" } };
    return (await call(team[key], "POST", "/v2/batch", [message])).json[0].messageId;
  };
/** A test key's messages are its own: /v2 never mixes the two. */
const aMessage = {
  make: makeMessage("liveKey"),
  makeTest: makeMessage("testKey"),
  unknown: "0190a0a0-0000-7000-8000-000000000000",
};
const makeFailure =
  (key: "liveKey" | "testKey"): NonNullable<AccessRow["make"]> =>
  async (world, team) => {
    const id = await makeMessage(key)(world, team);
    await world.fail(id);
    return `${id}-1`;
  };
const aFailure = {
  make: makeFailure("liveKey"),
  makeTest: makeFailure("testKey"),
  unknown: "0190a0a0-0000-7000-8000-000000000000-1",
};
const makeGroup: AccessRow["make"] = async ({ call }, { liveKey }) => {
  const name = newName();
  await call(liveKey, "POST", `/v2/topics/${name}/endpoints`, { endpoints: [{ url: MESSAGE_TO }] });
  return name;
};
const makeMessageSchedule =
  (key: "liveKey" | "testKey"): NonNullable<AccessRow["make"]> =>
  async ({ call }, team) =>
    (await call(team[key], "POST", `/v2/schedules/${MESSAGE_TO}`, {}, { "Upstash-Cron": "0 0 1 1 *" })).json
      .scheduleId;
const aMessageSchedule = {
  make: makeMessageSchedule("liveKey"),
  makeTest: makeMessageSchedule("testKey"),
  unknown: "nobody-has-this",
};
const aGroup = { make: makeGroup, unknown: "nobody-has-this" };
const anApplication = { make: makeApplication, unknown: `app_${UNUSED}` };
const open = { scope: "public", status: 200 } as const;

export const ACCESS_ROWS: Readonly<Record<string, AccessRow>> = {
  "POST /v2/publish/*": {
    scope: "tasks:write",
    role: "member",
    path: `/v2/publish/${MESSAGE_TO}`,
    body: {},
    status: 200,
  },
  "POST /v2/enqueue/:queueName/*": {
    scope: "tasks:write",
    role: "member",
    path: `/v2/enqueue/orders/${MESSAGE_TO}`,
    body: {},
    status: 200,
  },
  "POST /v2/batch": {
    scope: "tasks:write",
    role: "member",
    body: [{ destination: MESSAGE_TO }],
    status: 200,
  },
  "GET /v2/messages/:messageId": { scope: "tasks:read", status: 200, ...aMessage },
  "DELETE /v2/messages/:messageId": { scope: "tasks:write", role: "member", status: 200, ...aMessage },
  "DELETE /v2/messages": { scope: "tasks:write", role: "member", query: "?label=nobody", status: 200 },
  "GET /v2/events": { scope: "tasks:read", status: 200 },
  "GET /v2/logs": { scope: "tasks:read", status: 200 },
  "GET /v2/dlq": { scope: "tasks:read", status: 200 },
  "DELETE /v2/dlq": { scope: "tasks:write", role: "member", query: "?label=nobody", status: 200 },
  "POST /v2/dlq/retry": { scope: "tasks:write", role: "member", query: "?label=nobody", status: 201 },
  "GET /v2/dlq/:dlqId": { scope: "tasks:read", status: 200, ...aFailure },
  "DELETE /v2/dlq/:dlqId": { scope: "tasks:write", role: "member", status: 200, ...aFailure },
  "POST /v2/dlq/retry/:dlqId": { scope: "tasks:write", role: "member", status: 201, ...aFailure },
  "POST /v2/queues": {
    scope: "queues:write",
    role: "member",
    body: { queueName: "orders", parallelism: 1, paused: false },
    status: 200,
  },
  "GET /v2/queues": { scope: "queues:read", status: 200 },
  "GET /v2/queues/:queueName": { scope: "queues:read", status: 200, ...aQueue },
  "DELETE /v2/queues/:queueName": {
    scope: "queues:write",
    role: "member",
    live: true,
    status: 200,
    ...aQueue,
  },
  "POST /v2/queues/:queueName/pause": {
    scope: "queues:write",
    role: "member",
    live: true,
    status: 200,
    ...aQueue,
  },
  "POST /v2/queues/:queueName/resume": {
    scope: "queues:write",
    role: "member",
    live: true,
    status: 200,
    ...aQueue,
  },
  "GET /v2/flowControl": { scope: "queues:read", status: 200 },
  "GET /v2/flowControl/:flowControlKey": { scope: "queues:read", status: 200, ...aFlow },
  "POST /v2/flowControl/:flowControlKey/pause": {
    scope: "queues:write",
    role: "member",
    status: 200,
    ...anyName,
  },
  "POST /v2/flowControl/:flowControlKey/resume": {
    scope: "queues:write",
    role: "member",
    status: 200,
    ...anyName,
  },
  "POST /v2/flowControl/:flowControlKey/resetRate": {
    scope: "queues:write",
    role: "member",
    status: 200,
    ...aFlow,
  },
  "POST /v2/flowControl/:flowControlKey/pin": {
    scope: "queues:write",
    role: "member",
    query: "?parallelism=3",
    status: 200,
    ...anyName,
  },
  "POST /v2/flowControl/:flowControlKey/unpin": {
    scope: "queues:write",
    role: "member",
    query: "?parallelism=true",
    status: 200,
    ...aFlow,
  },
  "GET /v2/globalParallelism": { scope: "queues:read", status: 200 },
  "GET /v2/topics": { scope: "queues:read", status: 200 },
  "GET /v2/topics/:name": { scope: "queues:read", status: 200, ...aGroup },
  "DELETE /v2/topics/:name": { scope: "queues:write", role: "member", live: true, status: 200, ...aGroup },
  "POST /v2/topics/:name/endpoints": {
    scope: "queues:write",
    role: "member",
    live: true,
    path: "/v2/topics/orders/endpoints",
    body: { endpoints: [{ url: MESSAGE_TO }] },
    status: 200,
  },
  "DELETE /v2/topics/:name/endpoints": {
    scope: "queues:write",
    role: "member",
    live: true,
    body: { endpoints: [{ url: MESSAGE_TO }] },
    status: 200,
    ...aGroup,
  },
  "POST /v2/schedules/*": {
    scope: "schedules:write",
    role: "member",
    path: `/v2/schedules/${MESSAGE_TO}`,
    headers: { "Upstash-Cron": "0 0 1 1 *" },
    body: {},
    status: 200,
  },
  "GET /v2/schedules": { scope: "schedules:read", status: 200 },
  "GET /v2/schedules/:scheduleId": { scope: "schedules:read", status: 200, ...aMessageSchedule },
  "DELETE /v2/schedules/:scheduleId": {
    scope: "schedules:write",
    role: "member",
    status: 200,
    ...aMessageSchedule,
  },
  ...Object.fromEntries(
    ["PATCH", "POST"].flatMap((method) =>
      ["pause", "resume"].map((action) => [
        `${method} /v2/schedules/:scheduleId/${action}`,
        { scope: "schedules:write", role: "member", status: 200, ...aMessageSchedule } as const,
      ]),
    ),
  ),
  "GET /v2/keys": { scope: "webhooks:read", role: "admin", status: 200 },
  "POST /v2/keys/rotate": { scope: "webhooks:write", role: "admin", live: true, status: 200 },
  "POST /v1/tasks": {
    scope: "tasks:write",
    role: "member",
    status: 201,
    body: TASK,
  },
  "POST /v1/tasks/batch": {
    scope: "tasks:write",
    role: "member",
    status: 200,
    body: { tasks: [{ queue: "default", webhook_url: "http://127.0.0.1:9/", delay: 3600 }] },
  },
  "GET /v1/events": { scope: "tasks:read", status: 200 },
  "POST /v1/alerts": { scope: "webhooks:write", role: "member", live: true, body: ALERT, status: 201 },
  "GET /v1/alerts": { scope: "webhooks:read", live: true, status: 200 },
  "GET /v1/alerts/:alert_id": { scope: "webhooks:read", live: true, status: 200, ...anAlert },
  "PATCH /v1/alerts/:alert_id": {
    scope: "webhooks:write",
    role: "member",
    live: true,
    body: { enabled: false },
    status: 200,
    ...anAlert,
  },
  "DELETE /v1/alerts/:alert_id": {
    scope: "webhooks:write",
    role: "member",
    live: true,
    status: 200,
    ...anAlert,
  },
  "POST /v1/alerts/:alert_id/test": {
    scope: "webhooks:write",
    role: "member",
    live: true,
    status: 202,
    ...anAlert,
  },
  "POST /v1/webhooks": { scope: "webhooks:write", role: "member", live: true, body: WEBHOOK, status: 201 },
  "GET /v1/webhooks": { scope: "webhooks:read", status: 200 },
  "GET /v1/webhooks/:webhook_id": { scope: "webhooks:read", status: 200, ...aWebhook },
  "PATCH /v1/webhooks/:webhook_id": {
    scope: "webhooks:write",
    role: "member",
    live: true,
    body: { enabled: false },
    status: 200,
    ...aWebhook,
  },
  "DELETE /v1/webhooks/:webhook_id": {
    scope: "webhooks:write",
    role: "member",
    live: true,
    status: 200,
    ...aWebhook,
  },
  "GET /v1/webhooks/:webhook_id/deliveries": { scope: "webhooks:read", status: 200, ...aWebhook },
  "POST /v1/webhooks/:webhook_id/test": {
    scope: "webhooks:write",
    role: "member",
    live: true,
    status: 202,
    ...aWebhook,
  },
  "POST /v1/webhooks/:webhook_id/deliveries/:delivery_id/redeliver": {
    scope: "webhooks:write",
    role: "member",
    live: true,
    status: 202,
    ...aDelivery,
  },
  "GET /v1/tasks/bulk": { scope: "tasks:read", status: 200 },
  "POST /v1/tasks/bulk": {
    scope: "tasks:write",
    role: "member",
    status: 202,
    body: { action: "retry", filter: { queue: "nobody-has-this" } },
  },
  "GET /v1/tasks/bulk/:bulk_id": { scope: "tasks:read", status: 200, ...aBulk },
  "POST /v1/tasks/bulk/:bulk_id/stop": { scope: "tasks:write", role: "member", status: 200, ...aBulk },
  "GET /v1/tasks": { scope: "tasks:read", status: 200 },
  "GET /v1/tasks/:task_id": { scope: "tasks:read", status: 200, ...aTask },
  "GET /v1/tasks/:task_id/explain": { scope: "tasks:read", status: 200, ...aTask },
  "POST /v1/tasks/:task_id/cancel": { scope: "tasks:write", role: "member", status: 200, ...aTask },
  "POST /v1/tasks/:task_id/retry": {
    scope: "tasks:write",
    role: "member",
    status: 200,
    make: makeCancelled("liveKey"),
    makeSandbox: makeCancelled("testKey"),
    unknown: `task_${UNUSED}`,
  },
  "POST /v1/tasks/:task_id/dismiss": {
    scope: "tasks:write",
    role: "member",
    status: 200,
    make: makeFailed("liveKey"),
    makeSandbox: makeFailed("testKey"),
    unknown: `task_${UNUSED}`,
  },
  "POST /v1/tasks/:task_id/notifications/resend": {
    scope: "tasks:write",
    role: "member",
    status: 202,
    make: makeNotified("liveKey"),
    makeSandbox: makeNotified("testKey"),
    unknown: `task_${UNUSED}`,
  },
  "DELETE /v1/tasks/:task_id": { scope: "tasks:write", role: "member", status: 200, ...aTask },

  "GET /v1/sandbox": { scope: "tasks:read", role: "viewer", test: true, status: 200 },
  "POST /v1/sandbox/advance": {
    scope: "tasks:write",
    role: "member",
    test: true,
    status: 200,
    body: { seconds: 1 },
  },

  "POST /v1/schedules": {
    scope: "schedules:write",
    role: "member",
    status: 201,
    make: async () => newName(),
    bodyOf: (name) => ({ name, ...SCHEDULED }),
  },
  "GET /v1/schedules": { scope: "schedules:read", status: 200 },
  "GET /v1/schedules/:schedule": { scope: "schedules:read", status: 200, ...aSchedule },
  "PUT /v1/schedules/:schedule": {
    scope: "schedules:write",
    role: "member",
    status: 201,
    make: async () => newName(),
    body: SCHEDULED,
  },
  "PATCH /v1/schedules/:schedule": {
    scope: "schedules:write",
    role: "member",
    status: 200,
    body: { overlap: "skip" },
    ...aSchedule,
  },
  "DELETE /v1/schedules/:schedule": { scope: "schedules:write", role: "member", status: 200, ...aSchedule },
  "POST /v1/schedules/:schedule/pause": {
    scope: "schedules:write",
    role: "member",
    status: 200,
    ...aSchedule,
  },
  "POST /v1/schedules/:schedule/resume": {
    scope: "schedules:write",
    role: "member",
    status: 200,
    ...aSchedule,
  },
  "POST /v1/schedules/:schedule/run": {
    scope: "schedules:write",
    role: "member",
    status: 201,
    ...aSchedule,
  },

  "POST /v1/queues": {
    scope: "queues:write",
    role: "member",
    status: 201,
    make: async () => newName(),
    bodyOf: (name) => ({ name }),
  },
  "GET /v1/queues": { scope: "queues:read", status: 200 },
  "GET /v1/queues/:queue_name": { scope: "queues:read", status: 200, ...aQueue },
  "PATCH /v1/queues/:queue_name": {
    scope: "queues:write",
    live: true,
    role: "member",
    status: 200,
    body: { concurrency: 2 },
    ...aQueue,
  },
  "DELETE /v1/queues/:queue_name": {
    scope: "queues:write",
    live: true,
    role: "member",
    status: 200,
    ...aQueue,
  },
  "POST /v1/queues/:queue_name/pause": {
    scope: "queues:write",
    live: true,
    role: "member",
    status: 200,
    ...aQueue,
  },
  "POST /v1/queues/:queue_name/resume": {
    scope: "queues:write",
    live: true,
    role: "member",
    status: 200,
    ...aQueue,
  },

  "GET /v1/flows": { scope: "queues:read", status: 200 },
  "GET /v1/flows/:key": { scope: "queues:read", status: 200, ...aFlow },
  "PUT /v1/flows/:key": {
    scope: "queues:write",
    role: "member",
    status: 201,
    body: { concurrency: 2 },
    ...anyName,
  },
  "DELETE /v1/flows/:key": { scope: "queues:write", role: "member", status: 200, ...aFlow },
  "POST /v1/flows/:key/pause": { scope: "queues:write", role: "member", status: 200, ...anyName },
  "POST /v1/flows/:key/resume": { scope: "queues:write", role: "member", status: 200, ...anyName },
  "POST /v1/flows/:key/reset": { scope: "queues:write", role: "member", status: 200, ...aFlow },

  "GET /v1/url-groups": { scope: "queues:read", status: 200 },
  "GET /v1/url-groups/:name": { scope: "queues:read", status: 200, ...aGroup },
  "PUT /v1/url-groups/:name": {
    scope: "queues:write",
    role: "member",
    live: true,
    body: { endpoints: [{ url: MESSAGE_TO }] },
    status: 201,
    ...anyName,
  },
  "DELETE /v1/url-groups/:name": {
    scope: "queues:write",
    role: "member",
    live: true,
    status: 200,
    ...aGroup,
  },

  "GET /v1/breakers": { scope: "queues:read", status: 200 },
  "POST /v1/breakers/:host/close": {
    scope: "queues:write",
    live: true,
    role: "member",
    status: 200,
    ...aBreaker,
  },

  "GET /v1/stats/queues": { scope: "queues:read", status: 200, query: "?range=1h" },
  "GET /v1/stats/failures": { scope: "tasks:read", status: 200, query: "?range=1h" },

  "POST /v1/tokens": {
    scope: "tokens:write",
    role: "member",
    status: 201,
    body: { name: "Made", value: "Bearer made" },
  },
  "GET /v1/tokens": { scope: "tokens:read", status: 200 },
  "GET /v1/tokens/:tokenId": { scope: "tokens:read", status: 200, ...aToken },
  "DELETE /v1/tokens/:tokenId": { scope: "tokens:write", role: "member", status: 200, ...aToken },

  "GET /v1/signing-secret": { scope: "webhooks:read", role: "admin", status: 200 },
  "POST /v1/signing-secret/rotate": { scope: "webhooks:write", live: true, role: "admin", status: 200 },

  "POST /v1/apikeys": {
    scope: "apikeys:write",
    live: true,
    role: "admin",
    status: 201,
    body: { name: "Made" },
  },
  "GET /v1/apikeys": { scope: "apikeys:read", role: "member", status: 200 },
  "DELETE /v1/apikeys/:key_id": {
    scope: "apikeys:write",
    live: true,
    role: "admin",
    status: 200,
    make: makeKey,
    unknown: `key_${UNUSED}`,
  },

  "GET /v1/me": { scope: "any", status: 200 },
  // Of the operator's team alone, which is none of these: to them it is a route that does not exist.
  "GET /v1/system": { scope: "team:read", status: 404 },
  "GET /v1/audit": { scope: "team:read", role: "admin", status: 200 },

  "GET /v1/teams": { scope: "session", status: 200 },
  "POST /v1/teams": { scope: "session", status: 201, body: { name: "Made" } },
  "GET /v1/team": { scope: "team:read", status: 200 },
  "PATCH /v1/team": {
    scope: "team:write",
    live: true,
    role: "admin",
    status: 200,
    body: { name: "Renamed" },
  },
  "GET /v1/team/members": { scope: "team:read", status: 200 },
  "PATCH /v1/team/members/:user_id": {
    scope: "team:write",
    live: true,
    role: "admin",
    status: 200,
    body: { role: "viewer" },
    make: makeMember,
    unknown: `user_${UNUSED}`,
  },
  "DELETE /v1/team/members/:user_id": {
    scope: "team:write",
    live: true,
    role: "admin",
    status: 200,
    make: makeMember,
    unknown: `user_${UNUSED}`,
  },
  "DELETE /v1/team/membership": { scope: "session", status: 200, endsSession: true },
  "POST /v1/team/invitations": {
    scope: "team:write",
    live: true,
    role: "admin",
    status: 201,
    make: async () => `${newName()}@example.test`,
    bodyOf: (email) => ({ email }),
  },
  "GET /v1/team/invitations": { scope: "team:read", role: "admin", status: 200 },
  "DELETE /v1/team/invitations/:invitation_id": {
    scope: "team:write",
    live: true,
    role: "admin",
    status: 200,
    make: makeInvitation,
    unknown: `inv_${UNUSED}`,
  },

  "POST /v1/oauth/applications": {
    scope: "team:write",
    live: true,
    role: "admin",
    status: 201,
    body: APPLICATION,
  },
  "GET /v1/oauth/applications": { scope: "team:read", status: 200 },
  "DELETE /v1/oauth/applications/:clientId": {
    scope: "team:write",
    live: true,
    role: "admin",
    status: 200,
    ...anApplication,
  },
  "POST /v1/oauth/applications/:clientId/rotate": {
    scope: "team:write",
    live: true,
    role: "admin",
    status: 200,
    ...anApplication,
  },
  "GET /v1/oauth/authorizations": { scope: "team:read", status: 200 },
  // Of another member. What one has allowed oneself, anybody may end: oauth-authorizations-end.test.ts.
  "DELETE /v1/oauth/authorizations/:authorization_id": {
    scope: "team:write",
    live: true,
    role: "admin",
    status: 200,
    make: makeAuthorization,
    unknown: `auth_${UNUSED}`,
  },

  // To a team that the person is not in, like one that does not exist.
  "POST /v1/auth/session/team": {
    scope: "session",
    status: 404,
    make: async ({ others }) => others.id,
    bodyOf: (teamId) => ({ teamId }),
    unknown: `team_${UNUSED}`,
  },
  "GET /v1/sessions": { scope: "session", status: 200 },
  // Of another person, like one that nobody has. One's own: dashboard.suite.ts.
  "DELETE /v1/sessions/:session_id": {
    scope: "session",
    status: 404,
    make: async ({ call }, { owner }) => (await call(owner, "GET", "/v1/sessions")).json.sessions[0].id,
    unknown: `ses_${UNUSED}`,
  },
  "DELETE /v1/auth/session": { scope: "session", status: 200, endsSession: true },

  "POST /v1/auth/magic-link": { ...open, status: 202, body: { email: "somebody@example.test" } },
  "POST /v1/auth/session": { ...open, status: 401, body: { token: "f".repeat(64) } },
  "GET /v1/oauth/authorize": { ...open, status: 400 },
  "POST /v1/oauth/authorize": { ...open, status: 400 },
  "POST /v1/oauth/token": { ...open, status: 400 },
  "POST /v1/oauth/revoke": { ...open, status: 400 },
  "GET /v1/providers": open,
  "POST /v1/callbacks/:callbackId": { ...open, status: 404, body: {}, make: async () => "f".repeat(64) },
  "GET /.well-known/oauth-authorization-server": open,
  "GET /": open,
  "GET /assets/*": { ...open, status: 404 },
  "GET /help": open,
  "GET /llms.txt": open,
  "GET /help/*": { ...open, status: 404 },
  // By the cookie of a browser alone: dashboard.suite.ts.
  "GET /page/session": { ...open, status: 401 },
  "POST /page/session/end": { ...open, status: 401 },
  "POST /page/session/team": { ...open, status: 401, body: { team: `team_${UNUSED}` } },
  "GET /sign-in": open,
  "POST /sign-in": { ...open, status: 400 },
  "GET /sign-in/link": { ...open, status: 401 },
  "POST /sign-in/link": { ...open, status: 403 },
  "GET /livez": open,
  "GET /readyz": open,
  "GET /healthz": open,
  // Of a server that trusts a proxy, without a token of its own: metrics.test.ts has the others.
  "GET /metrics": { ...open, status: 401 },
  "GET /openapi.json": open,
};
