import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../../server/test/places.ts";
import { camelName, fromWire, snakeName, toWire } from "../src/names.ts";
import { ROUTES, type Route } from "../src/routes.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema, of which the test follows what it knows
type Schema = any;
const { paths, components } = JSON.parse(readFileSync(join(ROOT, "openapi.json"), "utf8"));
/** Whose inside is the caller's own, or keyed by data. */
const OPAQUE = ["payload", "body", "headers", "metadata", "detail", "checks", "limits"];

describe("the client", () => {
  it("has a method for every operation of openapi.json", () => {
    const source = ["client.ts", "events.ts", "tasks.ts"].map((name) =>
      readFileSync(join(ROOT, "packages/sdk/src", name), "utf8"),
    );
    const used = new Set(
      [...source.join("").matchAll(/\b(?:operation|whole|send)\(\s*"(\w+)"|ROUTES\.(\w+)/g)].map(
        ([, id, name]) => id ?? name,
      ),
    );
    const missing = Object.entries<Schema>(paths).flatMap(([path, methods]) =>
      Object.entries<Schema>(methods)
        .filter(([, { operationId }]) => !used.has(operationId))
        .map(([method, { operationId }]) => `${method.toUpperCase()} ${path}: operation("${operationId}")`),
    );
    assert.deepEqual(missing, [], "add them to packages/sdk/src/client.ts or tasks.ts, a line each");
  });

  it("converts every request field to its name in the API", () => {
    for (const methods of Object.values<Schema>(paths)) {
      for (const { operationId, requestBody } of Object.values<Schema>(methods)) {
        const schema = requestBody?.content["application/json"]?.schema;
        const route: Route = ROUTES[operationId as keyof typeof ROUTES];
        for (const variant of schema?.oneOf ?? [schema]) {
          const wire = sampleOf(variant);
          const given = fromWire(wire);
          assert.deepEqual(route.snake ? toWire(given) : given, wire, operationId);
        }
      }
    }
  });

  it("converts every query parameter to its name in the API", () => {
    for (const methods of Object.values<Schema>(paths)) {
      for (const { parameters = [] } of Object.values<Schema>(methods)) {
        for (const { name } of parameters.filter((one: Schema) => one.in === "query")) {
          assert.equal(snakeName(camelName(name)), name);
        }
      }
    }
  });

  it("does not convert names inside fields that the caller or data defines", () => {
    assert.deepEqual([...new Set(mapsIn(components.schemas, ""))].sort(), [...OPAQUE].sort().filter(isMap));
    for (const name of OPAQUE) {
      const value = { [name]: { some_name: [{ other_name: 1 }], camelName: 2 } };
      assert.deepEqual(fromWire(value), value);
      assert.deepEqual(toWire(value), value);
    }
  });

  it("converts names deep inside answers, even unknown ones", () => {
    assert.deepEqual(fromWire({ new_field: [{ inner_name: null, "2_x": 1 }], plain: "a_b" }), {
      newField: [{ innerName: null, "2X": 1 }],
      plain: "a_b",
    });
  });

  it("converts queue tasks inside another request, and not direct tasks", () => {
    const task = { webhookUrl: "u", payload: { userId: 1 }, pollConfig: { urlTemplate: "t" } };
    const direct = { targetUrl: "u", maxRetries: 1 };
    assert.deepEqual(toWire({ tasks: [task, direct], catchUp: "one" }), {
      tasks: [{ webhook_url: "u", payload: { userId: 1 }, poll_config: { urlTemplate: "t" } }, direct],
      catch_up: "one",
    });
  });
});

/** Payloads may be anything, which a schema does not call a map. */
function isMap(name: string): boolean {
  return name !== "payload";
}

/** An object with every field of the schema. */
function sampleOf(schema: Schema): unknown {
  if (schema?.$ref) return sampleOf(components.schemas[schema.$ref.split("/").at(-1)]);
  if (schema?.items) return [sampleOf(schema.items)];
  if (!schema?.properties) return "value";
  return Object.fromEntries(
    Object.entries<Schema>(schema.properties).map(([name, inner]) => [name, sampleOf(inner)]),
  );
}

/** The names of the fields whose schema allows names of any kind. */
function mapsIn(schema: Schema, name: string): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = schema.additionalProperties ? [name] : [];
  const fields = Object.entries<Schema>(schema.properties ?? {}).flatMap(([field, inner]) =>
    mapsIn(inner, field),
  );
  const others = Object.entries<Schema>(schema)
    .filter(([key]) => key !== "properties" && key !== "additionalProperties")
    .flatMap(([, inner]) => mapsIn(inner, name));
  return [...own, ...fields, ...others];
}
