import {
  type Static,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TString,
  Type,
} from "typebox";

/** One of a fixed set of words. */
export function oneOf<const T extends string>(values: readonly T[], options: TextOptions = {}) {
  return Type.Unsafe<T>({ type: "string", enum: [...values], ...options });
}

interface TextOptions {
  readonly description?: string;
  readonly default?: string;
}

/** Strings by name. Not Type.Record, whose pattern lets a key with a line break pass with a value of any type. */
export function textMap(options: { readonly description: string; readonly examples: readonly object[] }) {
  return Type.Unsafe<Record<string, string>>({
    type: "object",
    additionalProperties: { type: "string" },
    ...options,
  });
}

export function textOrNull(description: string) {
  return Type.Unsafe<string | null>({ type: ["string", "null"], description });
}

/** The same text, or null, which says something here: it is not taken for a field that was not given. */
export function orNull(text: TString, description: string) {
  return Type.Unsafe<string | null>({ ...text, type: ["string", "null"], description });
}

export function integerOrNull(description: string) {
  return Type.Unsafe<number | null>({ type: ["integer", "null"], description });
}

/** Only behind `refuseLongLists`, or where the body is small: ajv collects an error for each item. */
export function statusList(description: string) {
  return Type.Array(Type.Integer({ minimum: 100, maximum: 599 }), {
    maxItems: 50,
    description,
    examples: [[400, 404, 410]],
  });
}

/** Every model that a route imports, by its name. */
const models = new Map<string, TObject>();

/** In the order of their names, so that the document does not depend on who imports whom first. */
export function allModels(): readonly TSchema[] {
  return [...models].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, schema]) => schema);
}

/** An object that has a name of its own in the OpenAPI document, and so in every client made from it. */
export function model<T extends TProperties>(
  $id: string,
  description: string,
  properties: T,
  options: TObjectOptions = {},
): Model<T> {
  const schema = Object.assign(Type.Object(properties, options), { $id, description });
  if (models.has($id)) throw new Error(`Two models are called ${$id}`);
  models.set($id, schema);
  return schema;
}

type Model<T extends TProperties> = TObject<T> & { readonly $id: string };

/** The fields of a model that `ref` points at for which null says no more than leaving them out; none of any other schema. */
export function fieldsWithoutNull(schema: unknown): readonly string[] {
  const target = typeof schema === "object" && schema !== null && "$ref" in schema ? String(schema.$ref) : "";
  return Object.entries(models.get(target.slice(0, -1))?.properties ?? {})
    .filter(
      ([, { type }]: [string, { readonly type?: unknown }]) =>
        !(Array.isArray(type) && type.includes("null")),
    )
    .map(([name]) => name);
}

/** The keyword of what a handler judges: names of models, one of which the reference shows there. */
export const SHOWN_AS = "shownAs";

/** The body of a new task inside of another body. */
export const EITHER_TASK = { [SHOWN_AS]: ["CreateTask", "CreateDirectTask"] };

/** Points at a model by its name. */
export function ref<T extends TSchema & { readonly $id: string }>(schema: T) {
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` });
}

/** One model or the other. */
export function either<
  A extends TSchema & { readonly $id: string },
  B extends TSchema & { readonly $id: string },
>(first: A, second: B, description?: string) {
  return Type.Unsafe<Static<A> | Static<B>>({
    ...(description !== undefined && { description }),
    anyOf: [ref(first), ref(second)],
  });
}

export function instant(description: string) {
  return Type.String({ format: "date-time", description, examples: ["2026-03-01T09:30:00.000Z"] });
}

export const NoQuery = Type.Object({}, { additionalProperties: false });
