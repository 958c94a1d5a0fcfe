import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { CreateDirectTask, CreateTask } from "../../src/api/tasks/task-models.ts";
import { type Answer, createTestApi, PRIVATE_RULE, PUBLIC_URL, type TestApi } from "./test-api.ts";

const OWN = {
  urlTemplate: "https://target.example/jobs/{startResult.body.id}",
  statusPath: "status",
  doneValues: ["done"],
  failValues: ["failed"],
};

const MODELS = { "queue task": CreateTask, "direct task": CreateDirectTask };

/** The words of queue tasks and of direct tasks for the same thing. */
const KINDS = [
  {
    kind: "queue task",
    base: { queue: "default", webhook_url: "https://target.example/start" },
    url: "webhook_url",
    wait: "wait_for_callback",
    maxWait: "max_wait",
    poll: "poll_config",
    done: "on_complete_url",
    key: "idempotency_key",
  },
  {
    kind: "direct task",
    base: { targetUrl: "https://target.example/start" },
    url: "targetUrl",
    wait: "waitForCallback",
    maxWait: "maxWait",
    poll: "pollConfig",
    done: "onCompleteUrl",
    key: "idempotencyKey",
  },
] as const;

for (const { kind, base, url, wait, maxWait, poll, done, key } of KINDS) {
  describe(`what follows the call of a ${kind}`, () => {
    let api: TestApi;
    before(async () => {
      api = await createTestApi();
    });

    const create = (fields: object, headers?: Record<string, string>) =>
      api.call("POST", "/v1/tasks", { ...base, ...fields }, headers);
    const refusal = async (fields: object, headers?: Record<string, string>) => {
      const { status, body } = await create(fields, headers);
      assert.equal(status, 400, JSON.stringify(fields));
      return body.error;
    };
    /** The record of a new task with these fields. */
    const recordOf = async (fields: object, headers?: Record<string, string>) => {
      const { status, body } = await create(fields, headers);
      assert.equal(status, 201, JSON.stringify(fields));
      const record = (await api.call("GET", `/v1/tasks/${idOf(body)}`)).body;
      return record.task ?? record;
    };
    const idOf = (body: Answer["body"]): string => (body.task ?? body).id;
    const callbackOf = (body: Record<string, unknown>) =>
      kind === "queue task" ? [body.callback_id, body.callback_url] : [body.callbackId, body.callbackUrl];

    it("a task that waits, is polled or has a provider returns its callback", async () => {
      for (const fields of [{ [wait]: true }, { [poll]: OWN }, { provider: "fal" }]) {
        const { status, body } = await create(fields);
        const [id, address] = callbackOf(body);
        assert.equal(status, 201);
        assert.match(String(id), /^[0-9a-f]{64}$/);
        assert.equal(address, `${PUBLIC_URL}/v1/callbacks/${id}`);
      }
    });

    it("a call that names its callback waits for it, and tells its creator too", async () => {
      for (const fields of [
        { [url]: "https://target.example/start?answer={callbackUrl}" },
        { headers: { "X-Answer": "{callbackUrl}" } },
        kind === "queue task" ? { payload: { to: ["{callbackId}"] } } : { body: "to {callbackId}" },
      ]) {
        const { body } = await create(fields);
        assert.match(String(callbackOf(body)[0]), /^[0-9a-f]{64}$/);
        const record = await recordOf({ ...fields, [maxWait]: 60 });
        assert.deepEqual([record[wait], record[maxWait]], [true, 60]);
      }
      assert.equal(wait in (await recordOf({ headers: { "X-Answer": "callbackUrl" } })), false);
    });

    it("a call that names its callback and does not wait for it goes out as it was written", async () => {
      const { calls, url: address } = api.server.target;
      const text = '{"to":"{callbackUrl}"}';
      const extracted = kind === "queue task" ? { payload: { to: "{callbackUrl}" } } : { body: text };
      const fields = { [url]: address, headers: { "X-Answer": "{callbackId}" }, ...extracted, [wait]: false };

      const { body } = await api.run(fields);

      const call = calls.at(-1);
      assert.deepEqual([call?.headers["x-answer"], call?.body], ["{callbackId}", text]);
      const record = (await api.call("GET", `/v1/tasks/${idOf(body)}`)).body;
      assert.equal((record.task ?? record).status, "completed");
      assert.equal(wait in (record.task ?? record), false);
      assert.equal(callbackOf(body)[0] !== undefined, kind === "direct task");
    });

    it("a call that names its callback and is polled tells it, and may be ended by either", async () => {
      const { calls, url: address } = api.server.target;
      const config = { ...OWN, urlTemplate: `${address}/jobs` };
      for (const said of [{}, { [wait]: false }]) {
        const { body } = await api.run({
          [url]: address,
          headers: { "X-Answer": "{callbackId}" },
          [poll]: config,
          ...said,
        });
        const [id] = callbackOf(body);
        assert.equal(calls.at(-1)?.headers["x-answer"], id);
        const ended = await api.send({ method: "POST", url: `/v1/callbacks/${id}`, payload: "1" });
        assert.deepEqual([ended.status, ended.body.task.status], [200, "completed"]);
      }
    });

    it("max_wait is an hour unless given, and at most 30 days", async () => {
      const usual = await recordOf({ [wait]: true });
      assert.deepEqual([usual[wait], usual[maxWait]], [true, 3600]);
      for (const seconds of [1, 2_592_000])
        assert.equal((await recordOf({ [wait]: true, [maxWait]: seconds }))[maxWait], seconds);
      for (const wrong of [0, 2_592_001, 1.5, "60"]) {
        assert.equal(
          await refusal({ [maxWait]: wrong }),
          `${maxWait} must be an integer between 1 and 2592000`,
        );
      }
      assert.equal(await refusal({ [wait]: "true" }), `${wait} must be true or false`);
    });

    it("a configuration of the caller's own is completed", async () => {
      const defaults = { interval: 5, resultPath: "", forwardAuth: true, maxDuration: 600 };
      assert.deepEqual((await recordOf({ [poll]: OWN }))[poll], { ...OWN, ...defaults });
    });

    it("a wrong configuration is refused by its rule", async () => {
      const cases: [unknown, string][] = [
        ["fal", `${poll} must be an object`],
        [{ ...OWN, statusPath: undefined }, "statusPath is required"],
        [{ ...OWN, colour: 1 }, 'Unknown field "colour"'],
        [{ ...OWN, interval: 0 }, `${poll}["interval"] must be a number between 1 and 3600`],
        [
          { ...OWN, doneValues: Array(51).fill(1) },
          `${poll}["doneValues"] must be an array of at most 50 strings`,
        ],
        [{ ...OWN, failValues: ["done"] }, 'failValues must not repeat "done" of doneValues'],
        [
          { ...OWN, statusPath: "a\u0000" },
          "statusPath must be text without NUL characters or lone surrogates",
        ],
        [
          { ...OWN, doneValues: ["\ud800"] },
          "doneValues must be text without NUL characters or lone surrogates",
        ],
      ];
      for (const [config, error] of cases) assert.equal(await refusal({ [poll]: config }), error);
    });

    it("there is one way to go on: provider, own configuration or waiting", async () => {
      assert.equal(
        await refusal({ provider: "fal", [poll]: OWN }),
        `Use either provider or ${poll}, not both`,
      );
      assert.equal(
        await refusal({ [wait]: true, provider: "fal" }),
        `Use either ${wait} or provider, not both`,
      );
      assert.equal(await refusal({ [wait]: true, [poll]: OWN }), `Use either ${wait} or ${poll}, not both`);
      assert.equal((await create({ [wait]: false, provider: "fal" })).status, 201);
    });

    it("an unknown provider is named, as far as it is short", async () => {
      for (const provider of ["nobody", "", "\u0000", "constructor"]) {
        assert.equal(await refusal({ provider }), `Unknown provider "${provider}"`);
      }
      assert.equal(await refusal({ provider: "x".repeat(5000) }), `Unknown provider "${"x".repeat(128)}…"`);
      assert.equal(await refusal({ provider: 5 }), "provider must be a string");
    });

    it("the address to tell the end is judged like the one to call", async () => {
      const address = "https://target.example/done";
      assert.equal((await recordOf({ [done]: address }))[done], address);
      for (const wrong of ["", "/done", "http://u@a/", "http://a/\u0000"]) {
        assert.equal(await refusal({ [done]: wrong }), `${done} must be a valid http or https URL`);
      }
      assert.equal(await refusal({ [done]: 5 }), `${done} must be a string`);
    });

    it("an address that the egress policy refuses is refused at creation", async () => {
      assert.equal(await refusal({ [url]: "http://private.example/" }), `${url} ${PRIVATE_RULE}`);
      assert.equal(await refusal({ [done]: "http://private.example/" }), `${done} ${PRIVATE_RULE}`);
      const config = { ...OWN, urlTemplate: "https://private.example/{startResult.body.id}" };
      assert.equal(await refusal({ [poll]: config }), `urlTemplate ${PRIVATE_RULE}`);
    });

    it("the same key and body bring the first task again, with its callback", async () => {
      const fields = { [key]: "again", [wait]: true };
      const first = await create(fields);
      const again = await create(fields);

      assert.deepEqual([first.status, first.headers["idempotent-replayed"]], [201, undefined]);
      assert.deepEqual([again.status, again.headers["idempotent-replayed"]], [200, "true"]);
      assert.match(String(callbackOf(first.body)[0]), /^[0-9a-f]{64}$/);
      assert.deepEqual(callbackOf(again.body), callbackOf(first.body));
      assert.equal(idOf(again.body), idOf(first.body));
    });

    it("the same key and request bring the first task again, however it is written", async () => {
      const soon = new Date(Date.now() + 60_000).toISOString();
      const time = kind === "queue task" ? "run_at" : "delayUntil";
      const fields = {
        headers: { "X-A": "1", "X-B": "2" },
        metadata: { a: "1", b: "2" },
        [poll]: OWN,
        [time]: soon,
      };
      const { id } = await recordOf({ ...base, ...fields, [key]: "written" });

      const reversed = (value: object) => Object.fromEntries(Object.entries(value).reverse());
      const rewritten = reversed({
        ...base,
        ...fields,
        headers: reversed(fields.headers),
        metadata: reversed(fields.metadata),
        [poll]: reversed({ ...OWN, interval: 5, resultPath: "" }),
        [time]: soon.replace("Z", "+00:00"),
        priority: 5,
        method: "POST",
        [wait]: false,
      });
      const spaced = JSON.stringify(rewritten, null, 2);
      const again = await api.call("POST", "/v1/tasks", spaced, { "idempotency-key": "written" });
      assert.deepEqual([again.status, idOf(again.body)], [200, id], again.text);
    });

    it("every field counts, and what is extracted counts byte for byte", async () => {
      const extracted = kind === "queue task" ? "payload" : "body";
      const text = (value: string, more = "") =>
        `${JSON.stringify({ ...base, [key]: `bytes ${extracted}` }).slice(0, -1)},"${extracted}":${value}${more}}`;
      const first = kind === "queue task" ? '{"a":1}' : '"a"';
      assert.equal((await api.call("POST", "/v1/tasks", text(first))).status, 201);
      assert.equal((await api.call("POST", "/v1/tasks", text(` ${first} `))).status, 200);
      const others = kind === "queue task" ? ['{"a": 1}', '{"a":1.0}'] : ['"a "', '"A"'];
      for (const other of others)
        assert.equal((await api.call("POST", "/v1/tasks", text(other))).status, 409);
      for (const more of [
        { [wait]: true },
        { [maxWait]: 60 },
        { provider: "fal" },
        { [poll]: OWN },
        { [done]: "https://target.example/done" },
        { headers: { "X-A": "1" } },
        { delay: 1 },
        { timeout: 5 },
        { tags: ["a"] },
      ]) {
        const { status } = await api.call(
          "POST",
          "/v1/tasks",
          text(first, `,${JSON.stringify(more).slice(1, -1)}`),
        );
        assert.equal(status, 409, JSON.stringify(more));
      }
    });

    it("null means not given: a field is as if it were left out, or is required", async () => {
      const optional = Object.keys(MODELS[kind].properties).filter((name) => !(name in base));
      const nothing = Object.fromEntries(optional.map((name) => [name, null]));
      const timeless = ({ id: _, createdAt, created_at, runAt, run_at, ...rest }: Record<string, unknown>) =>
        rest;
      assert.ok(optional.length > 15);
      assert.deepEqual(timeless(await recordOf(nothing)), timeless(await recordOf({})));

      for (const required of Object.keys(base)) {
        const { status, body } = await create({ [required]: null });
        assert.deepEqual([status, body.error], [400, `${required} is required`]);
      }
      const parts = { interval: null, resultPath: null, errorPath: null, forwardHeaders: null };
      const config = (await recordOf({ [poll]: { ...OWN, ...parts } }))[poll];
      assert.deepEqual(config, (await recordOf({ [poll]: OWN }))[poll]);
      assert.equal(await refusal({ [poll]: { ...OWN, statusPath: null } }), "statusPath is required");

      assert.equal(await refusal({ colour: null }), 'Unknown field "colour"');
      assert.equal(await refusal({ [poll]: { ...OWN, colour: null } }), 'Unknown field "colour"');
      assert.equal(await refusal({ headers: { "X-A": null } }), 'headers["X-A"] must be a string');
    });

    it("the other kind's address does not count while it is null", async () => {
      const other = kind === "queue task" ? "targetUrl" : "webhook_url";
      assert.equal((await create({ [other]: null })).status, 201);
    });

    it("the same key with another body is a conflict", async () => {
      await create({ [key]: "conflict" });
      const { status, body } = await create({ [key]: "conflict", priority: 1 });

      assert.equal(status, 409);
      assert.deepEqual(body, {
        error: 'Idempotency key "conflict" was used with another request',
        code: "idempotency_conflict",
      });
    });

    it("the key may come in the header, alone or the same in both", async () => {
      for (const [fields, headers] of [
        [{}, { "idempotency-key": "by header" }],
        [{ [key]: "in both" }, { "idempotency-key": "in both" }],
      ] as const) {
        const { id } = await recordOf(fields, headers);
        const again = await create(fields, headers);
        assert.deepEqual([again.status, idOf(again.body)], [200, id]);
      }
      assert.equal(
        await refusal({ [key]: "one" }, { "idempotency-key": "other" }),
        `${key} must be the same as the header Idempotency-Key`,
      );
    });

    it("a key is 1 to 255 printable characters", async () => {
      const rule = "must be 1 to 255 printable ASCII characters";
      for (const wrong of ["", "a\n", "\u0000", "ü", "a".repeat(256)]) {
        assert.equal(await refusal({ [key]: wrong }), `${key} ${rule}`);
      }
      for (const wrong of ["", "ü", "a".repeat(256)]) {
        assert.equal(await refusal({}, { "idempotency-key": wrong }), `idempotency-key ${rule}`);
      }
      assert.equal((await create({ [key]: `${"a".repeat(254)} ` })).status, 201);
    });

    it("a header that names no token of the vault is refused", async () => {
      assert.equal(
        await refusal({ headers: { Authorization: "tok_123" } }),
        'Header "Authorization" references unknown vault token "tok_123"',
      );
    });

    it("nine headers that name tokens of the vault are refused before any is looked for", async () => {
      const headers = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`X-${index}`, "tok_123"]));
      assert.equal(await refusal({ headers }), "headers must name at most 8 vault tokens");
    });
  });
}

describe("what follows the call of either kind of task", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  it("a queue task that ends with its call returns no callback, a direct task does", async () => {
    const { body: a } = await api.call("POST", "/v1/tasks", KINDS[0].base);
    assert.deepEqual(Object.keys(a), ["id", "queue", "status", "priority", "delay", "created_at"]);
    const { body: b } = await api.call("POST", "/v1/tasks", KINDS[1].base);
    assert.deepEqual(Object.keys(b), ["task", "callbackId", "callbackUrl"]);
  });

  it("calls of queue tasks are always signed, those of direct tasks on demand", async () => {
    const { calls, url: targetUrl } = api.server.target;
    for (const [fields, isSigned] of [
      [{}, true],
      [{ targetUrl }, false],
      [{ targetUrl, sign: true }, true],
    ] as const) {
      await api.run(fields);
      assert.equal("webhook-signature" in (calls.at(-1)?.headers ?? {}), isSigned);
    }
  });

  it("a repeated request is answered with the state that the task is in by now", async () => {
    const once = { queue: "runs", webhook_url: api.server.target.url, idempotency_key: "once" };
    assert.equal((await api.run(once)).body.status, "pending");
    assert.equal((await api.run(once)).body.status, "completed");

    const direct = { queue: "runs", targetUrl: api.server.target.url, idempotencyKey: "directly" };
    assert.equal((await api.run(direct)).body.task.status, "pending");
    const { task } = (await api.run(direct)).body;
    assert.deepEqual([task.status, "runAt" in task], ["completed", false]);
  });
});
