import { SHOWN_AS } from "../schemas/field.ts";

/**
 * Says in the document what generators of clients would otherwise read in another way: where any object goes, without a
 * word they make a type that takes only an empty one; and a field that has a default they take for one that is always
 * there, also in a request that may leave it out.
 * What only a handler judges is shown as one of the models that it is judged by.
 */
export function easeClients(document: unknown): void {
  if (typeof document !== "object" || document === null) return;
  if (SHOWN_AS in document) showModels(document, document[SHOWN_AS]);
  if (isBareObject(document)) Object.assign(document, { additionalProperties: true });
  if ("properties" in document) tellDefaults(document.properties, requiredOf(document));
  if ("schema" in document && "in" in document) tellDefaults(document, []);
  for (const part of Object.values(document)) easeClients(part);
}

function showModels(schema: object, names: unknown): void {
  const oneOf = [names].flat().map((name) => ({ $ref: `#/components/schemas/${name}` }));
  for (const keyword of [SHOWN_AS, "type", "properties"]) Reflect.deleteProperty(schema, keyword);
  Object.assign(schema, { oneOf });
}

function isBareObject(schema: object): boolean {
  return (
    "type" in schema &&
    schema.type === "object" &&
    !("properties" in schema) &&
    !("additionalProperties" in schema)
  );
}

function requiredOf(schema: object): readonly unknown[] {
  return "required" in schema && Array.isArray(schema.required) ? schema.required : [];
}

/** A default in words. */
function tellDefaults(properties: unknown, required: readonly unknown[]): void {
  if (typeof properties !== "object" || properties === null) return;
  for (const [name, schema] of Object.entries(properties)) {
    if (required.includes(name) || typeof schema !== "object" || schema === null || !("default" in schema))
      continue;
    const { default: value, description = "", ...rest } = schema;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    Object.assign(properties, {
      [name]: { ...rest, description: `${description} Default: \`${text}\`.`.trim() },
    });
  }
}
