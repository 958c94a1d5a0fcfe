import { Compile } from "typebox/compile";
import type { TestApi } from "./test-api.ts";

/** How the body of an answer differs from what the reference says of it. */
export async function differencesFrom(api: TestApi, model: string, body: unknown): Promise<unknown[]> {
  const { schemas } = (await api.send({ url: "/openapi.json" })).body.components;
  const inline = (name: string): object =>
    JSON.parse(JSON.stringify({ ...schemas[name], additionalProperties: false }), (_key, value) =>
      typeof value?.$ref === "string" ? inline(value.$ref.split("/").at(-1)) : value,
    );
  return [...Compile(inline(model)).Errors(body)];
}
