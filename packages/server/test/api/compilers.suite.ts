import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { referencedModels } from "../../src/api/http/compilers.ts";

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
