import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { referencedModels } from "../../src/api/http/compilers.ts";

describe("the models that a serializer is given", () => {
  const models = {
    Task: { $id: "Task", properties: { attempts: { items: { $ref: "Attempt#" } } } },
    Attempt: { $id: "Attempt", properties: { task: { $ref: "Task#" } } },
    Queue: { $id: "Queue", properties: {} },
  };

  it("are those that its schema names, directly or by another model", () => {
    const schema = { properties: { tasks: { items: { $ref: "Task#" } } } };
    assert.deepEqual(Object.keys(referencedModels(schema, models)), ["Task", "Attempt"]);
  });

  it("are none for a schema that names none", () => {
    assert.deepEqual(referencedModels({ type: "object" }, models), {});
  });
});
