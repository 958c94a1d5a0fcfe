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
  const found = new Map<string, object>();
  const visit = (value: unknown) => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(REFERENCE)) {
      const model = models[name];
      if (model === undefined || found.has(name)) continue;
      found.set(name, model);
      visit(model);
    }
  };
  visit(schema);
  return Object.fromEntries(found);
}

const REFERENCE = /"\$ref":"([^"#]+)#?"/g;

/** All scopes have the same models and share a validator of them: Fastify asks for one per scope. */
const buildFromPool = AjvCompiler();

/**
 * Fastify compiles the validators and serializers of every route at the start, each over all schemas: seconds of
 * blocking for routes that are mostly unused. Here each is compiled on first use, except for schemas marked by
 * `compileAtStart`.
 */
export const compilersFactory: { buildSerializer: BuildSerializer; buildValidator: BuildValidator } = {
  buildSerializer: (schemas, options) => {
    const models = schemas as Readonly<Record<string, object>>;
    const compile: ReturnType<BuildSerializer> = (route) =>
      SerializerSelector()(referencedModels(route.schema, models), options)(route);
    // Routes share models; an error needs none, because it is sent as text.
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
    const models = schemas as Readonly<Record<string, object>>;
    const compileItem: ReturnType<BuildValidator> = (route) =>
      buildFromPool(referencedModels(route, models), itemAjvOptions)(route);
    const compileAny = onFirstUse(() => buildFromPool(schemas, options));
    const compile = (route: AnyRoute): Validator =>
      isMarked(route, firstErrorSchemas) ? compileItem(route) : compileAny()(withHeadersInLowerCase(route));
    return (route) => {
      let own = isMarked(route, startSchemas) ? compile(route) : undefined;
      const validate = (value: unknown) => {
        own ??= compile(route);
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

function onFirstUse<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const firstErrorSchemas = new WeakSet<object>();
const startSchemas = new WeakSet<object>();

/** For the route that every server serves: the first request would stop all others for a tenth of a second. */
export function compileAtStart<T extends object>(schema: T): T {
  startSchemas.add(schema);
  return schema;
}

/** The schema of one item of a batch: validation stops at its first error. */
export function firstErrorOnly<T extends object>(schema: T): T {
  firstErrorSchemas.add(schema);
  return schema;
}

function isMarked(route: AnyRoute, schemas: WeakSet<object>): boolean {
  return typeof route === "object" && schemas.has(route.schema);
}

/** Header names as in Node, regardless of the reference's spelling. */
function withHeadersInLowerCase(route: AnyRoute): AnyRoute {
  if (typeof route !== "object" || route.httpPart !== "headers") return route;
  const rules = Object.entries(route.schema.properties).map(([name, rule]) => [name.toLowerCase(), rule]);
  return { ...route, schema: { ...route.schema, properties: Object.fromEntries(rules) } };
}
