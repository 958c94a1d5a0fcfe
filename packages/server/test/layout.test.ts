import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { readTask } from "../src/api/tasks/task-reader.ts";
import { UNBOUNDED } from "../src/domain/limits.ts";
import { acceptRequest } from "../src/domain/task-acceptance.ts";
import { createOutgoing } from "../src/engine/outgoing.ts";
import { toRows } from "../src/postgres/rows.ts";
import { statement } from "../src/store/sql.ts";

/*
 * Properties are found fast where V8 found them in the last object: in objects of the same hidden class. An object that
 * grows after a spread, `{ ...other, more }`, gets a class of its own each time; one such object on the way of every
 * task cost a tenth of its CPU.
 */
setFlagsFromString("--allow-natives-syntax");
const isLaidOutLike: (one: unknown, other: unknown) => boolean = new Function(
  "one",
  "other",
  "return %HaveSameMap(one, other)",
) as () => boolean;
const isFast: (one: unknown) => boolean = new Function(
  "one",
  "return %HasFastProperties(one)",
) as () => boolean;

const payload = { order: 1 };
const body = { queue: "errands", webhook_url: "https://target.example/hook", payload };

function request() {
  return readTask(body, {
    text: JSON.stringify(body),
    extracted: null,
    idempotencyKey: undefined,
    now: new Date(0),
    refuseUrl: () => null,
  });
}

async function task() {
  const terms = { plan: "enterprise", limits: UNBOUNDED } as const;
  const origin = { teamId: 1, sandbox: false, idempotency: null, terms, requireTokenUse: () => {} };
  const deps = {
    findProvider: () => null,
    checkReferences: async () => {},
    refuseMentions: async () => {},
    newTaskId: () => "0190a0a0-0000-7000-8000-000000000000",
    newCallback: () => assert.fail("no callback is awaited"),
  };
  return (await acceptRequest(request(), origin, deps)).task;
}

async function sentHeaders() {
  let headers: unknown;
  const outgoing = createOutgoing({
    caller: {
      call(_call, options) {
        headers = options.headers;
        return Promise.reject(new Error("not sent"));
      },
      callUnwiped: () => assert.fail("no credential"),
    },
    vault: { resolve: () => assert.fail("no token"), openText: () => assert.fail("no callback") },
    signingSecrets: () => ["whsec_c2VjcmV0"],
    publicUrl: () => "",
    nowMs: () => 0,
  });
  const { call } = request();
  await assert.rejects(
    outgoing.send({
      teamId: 1,
      taskId: "0190a0a0-0000-7000-8000-000000000000",
      messageId: "task_1",
      call,
      headers: { "bellhop-queue": "errands" },
      timeoutMs: 1000,
      sign: true,
      callbackSealed: null,
      wipe: null,
      signal: new AbortController().signal,
      mayLeave: () => true,
    }),
  );
  return headers;
}

/** The last two of so many that V8 has begun to make them in its fast way. */
async function assertAlike(make: () => unknown): Promise<void> {
  for (let made = 0; made < 200; made += 1) await make();
  assert.ok(isLaidOutLike(await make(), await make()));
}

describe("objects of the hot path keep the same hidden class", () => {
  it("for requests", () => assertAlike(request));

  it("for new tasks", () => assertAlike(task));

  it("for the headers of a call", () => assertAlike(sentHeaders));

  it("for database rows with many columns", async () => {
    const fields = Array.from({ length: 40 }, (_, index) => ({ name: `column${index}` }));
    const wide = statement("wide", "select");
    const read = () => toRows(wide, { fields, rows: [fields.map(() => "value")] })[0];
    await assertAlike(read);
    assert.ok(isFast(read()));
  });
});
