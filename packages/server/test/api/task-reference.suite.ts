import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi } from "./test-api.ts";

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/**
 * A client made from the reference has a type for either kind of task, and must be able to tell by a field which of the two it
 * has got: `"targetUrl" in task`.
 */
describe("task responses in the OpenAPI document", () => {
  let schemas: Readonly<Record<string, Schema>>;
  let answers: (operation: string, status: number) => Schema;
  before(async () => {
    const { body } = await (await createTestApi()).send({ url: "/openapi.json" });
    schemas = body.components.schemas;
    answers = (operation, status) => {
      const [path = "", method = ""] = operation.split(" ");
      return body.paths[path][method].responses[status].content["application/json"].schema;
    };
  });

  const named = (schema: Schema | undefined): Schema => {
    const name = schema?.$ref?.split("/").at(-1) ?? "";
    const found = schemas[name];
    assert.ok(found !== undefined, `not a model of its own: ${JSON.stringify(schema)}`);
    return found;
  };
  /** The field of each variant that it always has, and the other never. */
  const markers = ({ anyOf = [] }: Schema): (string | undefined)[] => {
    const variants = anyOf.map(named);
    return variants.map((variant) =>
      variant.required?.find((field) =>
        variants.every((other) => other === variant || !Object.hasOwn(other.properties ?? {}, field)),
      ),
    );
  };

  it("are two models each, which a required field tells apart", () => {
    for (const [answer, fields] of [
      [answers("/v1/tasks post", 201), ["id", "task"]],
      [answers("/v1/tasks post", 200), ["id", "task"]],
      [answers("/v1/tasks/{task_id} get", 200), ["id", "task"]],
      [named(answers("/v1/tasks get", 200)).properties?.tasks?.items ?? {}, ["created_at", "createdAt"]],
    ] as const) {
      assert.deepEqual(markers(answer), fields);
    }
    const [queued, direct] =
      named(answers("/v1/tasks get", 200)).properties?.tasks?.items?.anyOf?.map(named) ?? [];
    assert.ok(queued?.required?.includes("webhook_url") && direct?.required?.includes("targetUrl"));
    assert.equal("targetUrl" in (queued?.properties ?? {}), false);
  });

  it("wrap the model of a direct task", () => {
    for (const wrapper of ["CreatedDirectTask", "DirectTaskAnswer"]) {
      assert.ok(named(schemas[wrapper]?.properties?.task).required?.includes("targetUrl"));
    }
  });
});
