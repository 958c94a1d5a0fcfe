import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { createFakeServices } from "./fake-services.ts";
import { createTestApi, PRIVATE_RULE, type TestApi } from "./test-api.ts";

const OWN = {
  urlTemplate: "https://target.example/jobs/{startResult.body.id}",
  statusPath: "status",
  doneValues: ["done"],
  failValues: ["failed"],
};

/** The words of each kind of task for the same thing. */
const KINDS = [
  {
    kind: "a queue task",
    base: { queue: "default", webhook_url: "https://target.example/start" },
    url: "webhook_url",
    wait: "wait_for_callback",
    maxWait: "max_wait",
    poll: "poll_config",
    done: "on_complete_url",
    key: "idempotency_key",
  },
  {
    kind: "a direct task",
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
  describe(`what follows a call, ${kind}`, () => {
    let api: TestApi;
    before(async () => {
      api = await createTestApi();
    });
    after(() => api.app.close());

    const create = (fields: object, headers?: Record<string, string>) =>
      api.call("POST", "/v1/tasks", { ...base, ...fields }, headers);
    const refusal = async (fields: object, headers?: Record<string, string>) => {
      const { status, body } = await create(fields, headers);
      assert.equal(status, 400, JSON.stringify(fields));
      return body.error;
    };
    const lastRequest = () => {
      const request = api.services.requests.at(-1);
      assert.ok(request);
      return request;
    };
    const callbackOf = (body: Record<string, unknown>) =>
      kind === "a queue task" ? [body.callback_id, body.callback_url] : [body.callbackId, body.callbackUrl];

    it("contract 3: a task that waits, is polled or has a provider is told its callback", async () => {
      for (const fields of [{ [wait]: true }, { [poll]: OWN }, { provider: "fal" }]) {
        const { status, body } = await create(fields);
        const [id, address] = callbackOf(body);
        assert.equal(status, 201);
        assert.match(String(id), /^[0-9a-f]{64}$/);
        assert.equal(address, `http://127.0.0.1:8787/v1/callbacks/${id}`);
      }
    });

    it("contract 3: max_wait is an hour unless given, and at most 30 days", async () => {
      await create({ [wait]: true });
      assert.deepEqual([lastRequest().waitForCallback, lastRequest().maxWaitSeconds], [true, 3600]);
      await create({ [wait]: true, [maxWait]: 1 });
      assert.equal(lastRequest().maxWaitSeconds, 1);
      for (const wrong of [0, 2_592_001, 1.5, "60", null]) {
        assert.equal(
          await refusal({ [maxWait]: wrong }),
          `${maxWait} must be an integer between 1 and 2592000`,
        );
      }
      assert.equal(await refusal({ [wait]: "true" }), `${wait} must be true or false`);
    });

    it("contract 3: a configuration of the caller's own is completed", async () => {
      await create({ [poll]: OWN });
      const defaults = { interval: 5, resultPath: "", forwardAuth: true, maxDuration: 600 };
      assert.deepEqual(lastRequest().pollConfig, { ...OWN, ...defaults });
    });

    it("contract 3: a wrong configuration is refused by its rule", async () => {
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

    it("contract 3: there is one way to go on: provider, own configuration or waiting", async () => {
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

    it("contract 3: an unknown provider is named, as far as it is short", async () => {
      for (const provider of ["nobody", "", "\u0000", "constructor"]) {
        assert.equal(await refusal({ provider }), `Unknown provider "${provider}"`);
      }
      assert.equal(await refusal({ provider: "x".repeat(5000) }), `Unknown provider "${"x".repeat(128)}…"`);
      assert.equal(await refusal({ provider: 5 }), "provider must be a string");
    });

    it("contract 3: the address to tell the end is judged like the one to call", async () => {
      await create({ [done]: "https://target.example/done" });
      assert.equal(lastRequest().onCompleteUrl, "https://target.example/done");
      for (const wrong of ["", "/done", "http://u@a/", "http://a/\u0000"]) {
        assert.equal(await refusal({ [done]: wrong }), `${done} must be a valid http or https URL`);
      }
      assert.equal(await refusal({ [done]: 5 }), `${done} must be a string`);
    });

    it("contract 3: an address that the egress policy refuses is refused at creation", async () => {
      assert.equal(await refusal({ [url]: "http://private.example/" }), `${url} ${PRIVATE_RULE}`);
      assert.equal(await refusal({ [done]: "http://private.example/" }), `${done} ${PRIVATE_RULE}`);
    });

    it("contract 3: the same key and body bring the first task again, without its callback", async () => {
      const fields = { [key]: `${kind} again`, [wait]: true };
      const first = await create(fields);
      const again = await create(fields);

      assert.deepEqual([first.status, first.headers["idempotent-replayed"]], [201, undefined]);
      assert.deepEqual([again.status, again.headers["idempotent-replayed"]], [200, "true"]);
      assert.deepEqual(callbackOf(again.body), [undefined, undefined]);
      assert.equal((again.body.task ?? again.body).id, (first.body.task ?? first.body).id);
    });

    it("contract 3: the same key with another body is a conflict", async () => {
      await create({ [key]: "conflict" });
      const { status, body } = await create({ [key]: "conflict", priority: 1 });

      assert.equal(status, 409);
      assert.deepEqual(body, { error: 'Idempotency key "conflict" was used with another request' });
    });

    it("contract 3: the key may come in the header, alone or the same in both", async () => {
      await create({}, { "idempotency-key": "by header" });
      assert.equal(lastRequest().idempotencyKey, "by header");
      await create({ [key]: "in both" }, { "idempotency-key": "in both" });
      assert.equal(lastRequest().idempotencyKey, "in both");
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

    it("spec 7: what the service finds wrong with a vault reference is answered as it is", async () => {
      const services = createFakeServices();
      const refuse = async () => {
        throw new Problem("vault_token_unknown", { header: "Authorization", token: "tok_123" });
      };
      const strict = await createTestApi({ ...services, tasks: { ...services.tasks, create: refuse } });

      const { status, body } = await strict.call("POST", "/v1/tasks", {
        ...base,
        headers: { Authorization: "tok_123" },
      });

      assert.equal(status, 400);
      assert.deepEqual(body, {
        error: 'Header "Authorization" references unknown vault token "tok_123"',
      });
      await strict.app.close();
    });
  });
}

describe("what follows a call, of either kind", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  it("contract 3: a queue task that ends with its call is told no callback, a direct task is", async () => {
    const { body: a } = await api.call("POST", "/v1/tasks", KINDS[0].base);
    assert.deepEqual(Object.keys(a), ["id", "queue", "status", "priority", "delay", "created_at"]);
    const { body: b } = await api.call("POST", "/v1/tasks", KINDS[1].base);
    assert.deepEqual(Object.keys(b), ["task", "callbackId", "callbackUrl"]);
  });

  it("contract 4: queue tasks are always signed, direct tasks on demand", async () => {
    for (const [fields, sign] of [
      [KINDS[0].base, true],
      [KINDS[1].base, false],
      [{ ...KINDS[1].base, sign: true }, true],
    ] as const) {
      await api.call("POST", "/v1/tasks", fields);
      assert.equal(api.services.requests.at(-1)?.sign, sign);
    }
  });

  it("a repeated request is answered with the state that the task is in by now", async () => {
    const services = createFakeServices();
    const { create } = services.tasks;
    const tasks = {
      ...services.tasks,
      create: async (...request: Parameters<typeof create>) => ({
        ...(await create(...request)),
        status: "completed" as const,
        callback: null,
        replayed: true,
      }),
    };
    const later = await createTestApi({ ...services, tasks });

    assert.equal((await later.call("POST", "/v1/tasks", KINDS[0].base)).body.status, "completed");
    const { task } = (await later.call("POST", "/v1/tasks", KINDS[1].base)).body;
    assert.deepEqual([task.status, "runAt" in task], ["completed", false]);
    await later.app.close();
  });
});
