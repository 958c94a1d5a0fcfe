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
  describe(`callbacks, polling and idempotency of a ${kind}`, () => {
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

    it("returns the callback for a task that waits, is polled or has a provider", async () => {
      for (const fields of [{ [wait]: true }, { [poll]: OWN }, { provider: "fal" }]) {
        const { status, body } = await create(fields);
        const [id, address] = callbackOf(body);
        assert.equal(status, 201);
        assert.match(String(id), /^[0-9a-f]{64}$/);
        assert.equal(address, `${PUBLIC_URL}/v1/callbacks/${id}`);
      }
    });

    it("waits for the callback by default when the call names it", async () => {
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

    it("sends placeholders unchanged when the task does not wait for its callback", async () => {
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

    it("sends the callback id in a call that is polled, and completes by the callback too", async () => {
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

    it("defaults max_wait to an hour and allows up to 30 days", async () => {
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

    it("completes a custom poll configuration with defaults", async () => {
      const defaults = { interval: 5, resultPath: "", forwardAuth: true, maxDuration: 600 };
      assert.deepEqual((await recordOf({ [poll]: OWN }))[poll], { ...OWN, ...defaults });
    });

    it("refuses an invalid poll configuration with the rule that it breaks", async () => {
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

    it("accepts only one of provider, poll configuration and wait for a callback", async () => {
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

    it("names an unknown provider, shortened if it is long", async () => {
      for (const provider of ["nobody", "", "\u0000", "constructor"]) {
        assert.equal(await refusal({ provider }), `Unknown provider "${provider}"`);
      }
      assert.equal(await refusal({ provider: "x".repeat(5000) }), `Unknown provider "${"x".repeat(128)}…"`);
      assert.equal(await refusal({ provider: 5 }), "provider must be a string");
    });

    it("checks the notification URL like the URL to call", async () => {
      const address = "https://target.example/done";
      assert.equal((await recordOf({ [done]: address }))[done], address);
      for (const wrong of ["", "/done", "http://u@a/", "http://a/\u0000"]) {
        assert.equal(await refusal({ [done]: wrong }), `${done} must be a valid http or https URL`);
      }
      assert.equal(await refusal({ [done]: 5 }), `${done} must be a string`);
    });

    it("refuses URLs that the egress policy blocks, at creation", async () => {
      assert.equal(await refusal({ [url]: "http://private.example/" }), `${url} ${PRIVATE_RULE}`);
      assert.equal(await refusal({ [done]: "http://private.example/" }), `${done} ${PRIVATE_RULE}`);
      const config = { ...OWN, urlTemplate: "https://private.example/{startResult.body.id}" };
      assert.equal(await refusal({ [poll]: config }), `urlTemplate ${PRIVATE_RULE}`);
    });

    it("returns the first task, with its callback, for the same key and body", async () => {
      const fields = { [key]: "again", [wait]: true };
      const first = await create(fields);
      const again = await create(fields);

      assert.deepEqual([first.status, first.headers["idempotent-replayed"]], [201, undefined]);
      assert.deepEqual([again.status, again.headers["idempotent-replayed"]], [200, "true"]);
      assert.match(String(callbackOf(first.body)[0]), /^[0-9a-f]{64}$/);
      assert.deepEqual(callbackOf(again.body), callbackOf(first.body));
      assert.equal(idOf(again.body), idOf(first.body));
    });

    it("returns the first task for the same key and request in another notation", async () => {
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

    it("compares every field for a repeated key, and the payload or body byte for byte", async () => {
      const field = kind === "queue task" ? "payload" : "body";
      const text = (value: string, more = "") =>
        `${JSON.stringify({ ...base, [key]: `bytes ${field}` }).slice(0, -1)},"${field}":${value}${more}}`;
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

    it("treats null as left out, and refuses it for a required field", async () => {
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

    it("ignores the URL field of the other shape when it is null", async () => {
      const other = kind === "queue task" ? "targetUrl" : "webhook_url";
      assert.equal((await create({ [other]: null })).status, 201);
    });

    it("answers 409 to the same key with another body", async () => {
      await create({ [key]: "conflict" });
      const { status, body } = await create({ [key]: "conflict", priority: 1 });

      assert.equal(status, 409);
      assert.deepEqual(body, {
        error: 'Idempotency key "conflict" was used with another request',
        code: "idempotency_conflict",
      });
    });

    it("accepts the key in the header, alone or equal to the one in the body", async () => {
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

    it("requires a key of 1 to 255 printable characters", async () => {
      const rule = "must be 1 to 255 printable ASCII characters";
      for (const wrong of ["", "a\n", "\u0000", "ü", "a".repeat(256)]) {
        assert.equal(await refusal({ [key]: wrong }), `${key} ${rule}`);
      }
      for (const wrong of ["", "ü", "a".repeat(256)]) {
        assert.equal(await refusal({}, { "idempotency-key": wrong }), `idempotency-key ${rule}`);
      }
      assert.equal((await create({ [key]: `${"a".repeat(254)} ` })).status, 201);
    });

    it("refuses a header that names an unknown vault token", async () => {
      assert.equal(
        await refusal({ headers: { Authorization: "tok_123" } }),
        'Header "Authorization" references unknown vault token "tok_123"',
      );
    });

    it("refuses more than 8 vault tokens in headers before it looks any up", async () => {
      const headers = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`X-${index}`, "tok_123"]));
      assert.equal(await refusal({ headers }), "headers must name at most 8 vault tokens");
    });
  });
}

describe("callbacks, signatures and idempotency of both shapes", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  it("returns no callback for a queue task that ends with its call, and one for a direct task", async () => {
    const { body: a } = await api.call("POST", "/v1/tasks", KINDS[0].base);
    assert.deepEqual(Object.keys(a), ["id", "queue", "status", "priority", "delay", "created_at"]);
    const { body: b } = await api.call("POST", "/v1/tasks", KINDS[1].base);
    assert.deepEqual(Object.keys(b), ["task", "callbackId", "callbackUrl"]);
  });

  it("signs every call of a queue task, and of a direct task only with sign", async () => {
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

  it("answers a repeated request with the task's current state", async () => {
    const once = { queue: "runs", webhook_url: api.server.target.url, idempotency_key: "once" };
    assert.equal((await api.run(once)).body.status, "pending");
    assert.equal((await api.run(once)).body.status, "completed");

    const direct = { queue: "runs", targetUrl: api.server.target.url, idempotencyKey: "directly" };
    assert.equal((await api.run(direct)).body.task.status, "pending");
    const { task } = (await api.run(direct)).body;
    assert.deepEqual([task.status, "runAt" in task], ["completed", false]);
  });
});
