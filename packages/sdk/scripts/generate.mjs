// What the SDK knows of the API, written from openapi.json: its types, and where each operation is found.
import openapiTS, { astToString } from "openapi-typescript";

const HEAD = "// Written from openapi.json by `npm run generate`.\n";

/** The generated files of src, by name. */
export async function generate(document) {
  return {
    "openapi.ts": HEAD + astToString(await openapiTS(document)),
    "routes.ts": routes(document),
  };
}

function routes(document) {
  const lines = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const route = {
        method: method.toUpperCase(),
        path,
        credential: operation.security?.some((one) => "apiKey" in one || "session" in one) ?? true,
        query: (operation.parameters ?? []).filter((one) => one.in === "query").map((one) => one.name),
        ...bodyOf(operation, document),
      };
      const fields = Object.entries(route).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
      return `  ${operation.operationId}: { ${fields.join(", ")} },\n`;
    }),
  );
  return `${HEAD}
export interface Route {
  readonly method: string;
  readonly path: string;
  /** Whether the caller must show who it is. */
  readonly credential: boolean;
  /** The names of what can be asked for in the query. */
  readonly query: readonly string[];
  readonly body: "json" | "form" | null;
  /** Whether names of the body are snake_case on the wire. */
  readonly snake: boolean;
}

export const ROUTES = {
${lines.join("")}} as const satisfies Record<string, Route>;
`;
}

function bodyOf(operation, document) {
  const [[type, { schema }] = [null, {}]] = Object.entries(operation.requestBody?.content ?? {});
  const kind = type === null ? null : type === "application/json" ? "json" : "form";
  return { body: kind, snake: namesOf(schema, document).some((name) => name.includes("_")) };
}

/** Names of the fields of a schema, of all its variants and of what lies inside. */
function namesOf(schema, document) {
  if (schema === null || typeof schema !== "object") return [];
  if (schema.$ref) return namesOf(document.components.schemas[schema.$ref.split("/").at(-1)], document);
  const own = Object.keys(schema.properties ?? {});
  const inside = [...Object.values(schema.properties ?? {}), schema.items];
  const variants = [schema.oneOf, schema.anyOf, schema.allOf].flatMap((list) => list ?? []);
  return [...own, ...[...inside, ...variants].flatMap((part) => namesOf(part, document))];
}
