/** As much of JSON Schema as our reference uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly examples?: readonly unknown[];
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

export interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: Content;
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}

/** An OpenAPI document, as the server tells it. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Content>>;
  };
}

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function routesOf({ paths }: Document): Route[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** What the reference says of an answer; undefined: nothing, so it must not be given. */
export function answerOf(document: Document, { operation }: Route, status: number): Content | undefined {
  const answer = operation.responses[String(status)];
  if (answer?.$ref === undefined) return answer;
  return document.components.responses[nameIn(answer.$ref)];
}

/** The schema without references. A model says all of its fields: what it does not name must not be there. */
export function inline(document: Document, schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (typeof value?.$ref !== "string") return value;
    const model = document.components.schemas[nameIn(value.$ref)] ?? {};
    const isOpen = model.properties === undefined || model.additionalProperties !== undefined;
    return inline(document, isOpen ? model : { ...model, additionalProperties: false });
  });
}

function nameIn(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}
