import AjvCompiler from "@fastify/ajv-compiler";
import SerializerSelector from "@fastify/fast-json-stringify-compiler";
import { itemAjvOptions } from "./validation.ts";

type BuildSerializer = ReturnType<typeof SerializerSelector>;
type Serializer = ReturnType<ReturnType<BuildSerializer>>;
type BuildValidator = AjvCompiler.BuildCompilerFromPool;
type Validator = ReturnType<ReturnType<BuildValidator>>;
type AnyRoute = Parameters<ReturnType<BuildValidator>>[0];

/** The models that a schema names, and those that they name. The serializer checks every schema that it is given, for a millisecond each. */
export function referencedModels(
  schema: unknown,
  models: Readonly<Record<string, object>>,
): Record<string, object> {
  const found: Record<string, object> = {};
  const visit = (value: unknown) => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(REFERENCE)) {
      const model = models[name];
      if (model === undefined || name in found) continue;
      found[name] = model;
      visit(model);
    }
  };
  visit(schema);
  return found;
}

const REFERENCE = /"\$ref":"([^"#]+)#?"/g;

/**
 * Fastify compiles what checks each request and writes each answer of every route at the start, and each compilation goes
 * over all schemas: seconds in which nothing else happens, for routes that are mostly never used. Here each is compiled
 * when it is first needed.
 */
export const compilersFactory: { buildSerializer: BuildSerializer; buildValidator: BuildValidator } = {
  buildSerializer: (schemas, options) => {
    const models = schemas as Readonly<Record<string, object>>;
    const compile: ReturnType<BuildSerializer> = (route) =>
      SerializerSelector()(referencedModels(route.schema, models), options)(route);
    // Routes share models; an error has none, because it leaves as text.
    const compiled = new Map<string, Serializer>();
    return (route) => {
      let own: Serializer | undefined;
      const find = () => {
        const model = JSON.stringify(route.schema);
        const serializer = compiled.get(model) ?? compile(route);
        compiled.set(model, serializer);
        return serializer;
      };
      return (value) => {
        own ??= find();
        return own(value);
      };
    };
  },
  buildValidator: (schemas, options) => {
    const compile = AjvCompiler()(schemas, options);
    let first: typeof compile | undefined;
    const compileFirst: typeof compile = (route) => {
      first ??= AjvCompiler()(schemas, itemAjvOptions);
      return first(route);
    };
    return (route) => {
      let own: Validator | undefined;
      const validate = (value: unknown) => {
        own ??= isItem(route) ? compileFirst(route) : compile(withHeadersInLowerCase(route));
        const isValid = own(value);
        validate.errors = own.errors;
        return isValid;
      };
      // Where ajv leaves them, and Fastify looks for them.
      validate.errors = undefined as Validator["errors"];
      return validate as Validator;
    };
  },
};

const firstErrorSchemas = new WeakSet<object>();

/** The schema of one of many items in a body: only the first rule that an item breaks is looked for. */
export function firstErrorOnly<T extends object>(schema: T): T {
  firstErrorSchemas.add(schema);
  return schema;
}

function isItem(route: AnyRoute): boolean {
  return typeof route === "object" && firstErrorSchemas.has(route.schema);
}

/** The names of headers as Node gives them, however the reference spells them. */
function withHeadersInLowerCase(route: AnyRoute): AnyRoute {
  if (typeof route !== "object" || route.httpPart !== "headers") return route;
  const rules = Object.entries(route.schema.properties).map(([name, rule]) => [name.toLowerCase(), rule]);
  return { ...route, schema: { ...route.schema, properties: Object.fromEntries(rules) } };
}
