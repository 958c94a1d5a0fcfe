import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilersFactory, referencedModels } from "../../src/api/http/compilers.ts";
import { ajvOptions } from "../../src/api/http/validation.ts";
import { allModels } from "../../src/api/schemas/field.ts";
import { CreateEitherTask } from "../../src/api/tasks/task-models.ts";
import { createTestApi } from "./test-api.ts";

describe("referencedModels", () => {
  const models = {
    Task: { $id: "Task", properties: { attempts: { items: { $ref: "Attempt#" } } } },
    Attempt: { $id: "Attempt", properties: { task: { $ref: "Task#" } } },
    Queue: { $id: "Queue", properties: {} },
  };

  it("returns the models that the schema references, directly or through another model", () => {
    const schema = { properties: { tasks: { items: { $ref: "Task#" } } } };
    assert.deepEqual(Object.keys(referencedModels(schema, models)), ["Task", "Attempt"]);
  });

  it("returns no models for a schema without references", () => {
    assert.deepEqual(referencedModels({ type: "object" }, models), {});
  });
});

describe("validators and serializers", () => {
  const TASK = { queue: "default", webhook_url: "http://127.0.0.1:9/", delay: 3600 };
  const { delay: _, ...SCHEDULED } = TASK;
  const TERMS = { cron: "0 9 * * *", task: SCHEDULED };
  const REQUESTS = [
    ["POST", "/v1/tasks", TASK],
    ["POST", "/v1/tasks/batch", { tasks: [TASK] }],
    ["PUT", "/v1/schedules/compiled", TERMS],
    ["PATCH", "/v1/schedules/compiled", { task: SCHEDULED }],
    ["GET", "/v1/tasks"],
  ] as const;

  /** What is compiled meanwhile. Both compilers make functions of their code. */
  async function compiledDuring(work: () => Promise<void>): Promise<string[]> {
    const compiled: string[] = [];
    const { Function: original } = globalThis;
    globalThis.Function = new Proxy(original, {
      construct(target, args) {
        compiled.push(String(args.at(-1)).slice(0, 200));
        return Reflect.construct(target, args);
      },
    });
    try {
      await work();
    } finally {
      globalThis.Function = original;
    }
    return compiled;
  }

  it("are not compiled again for the second request of a route", async () => {
    const api = await createTestApi();
    const send = async () => {
      for (const [method, path, body] of REQUESTS) {
        const { status, text } = await api.call(method, path, body);
        assert.ok(status < 300, text);
      }
    };
    assert.ok((await compiledDuring(send)).length > 0);
    assert.deepEqual(await compiledDuring(send), []);
  });

  it("are compiled for new tasks when the route is registered", async () => {
    // A model more than the server has: the pool of compilers has none for it yet.
    const models = Object.fromEntries(
      [...allModels(), { $id: "Unseen" }].map((each) => [String(Reflect.get(each, "$id")), each]),
    );
    const build = compilersFactory.buildValidator(models, ajvOptions);
    const route = { method: "POST", url: "/v1/tasks", httpPart: "body" };
    const compiled = await compiledDuring(async () => void build({ ...route, schema: CreateEitherTask }));
    assert.ok(compiled.length > 0);
    const others = await compiledDuring(
      async () => void build({ ...route, schema: { ...CreateEitherTask } }),
    );
    assert.deepEqual(others, []);
  });
});
