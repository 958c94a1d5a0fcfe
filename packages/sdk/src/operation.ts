import { BellhopError } from "./errors.ts";
import { type Camel, fromWire, type Given, snakeName, toWire } from "./names.ts";
import type { operations } from "./openapi.ts";
import type { RequestOptions } from "./options.ts";
import { ROUTES, type Route } from "./routes.ts";
import type { Transport } from "./transport.ts";

export type OperationId = keyof typeof ROUTES;

type Content<Part> = Part extends { content: { "application/json": infer Json } }
  ? Json
  : Part extends { content: { "application/x-www-form-urlencoded": infer Form } }
    ? Form
    : never;
type Parameters<Id extends OperationId> = operations[Id]["parameters"];
type Success<Responses> = { [Status in keyof Responses & (200 | 201 | 202)]: Content<Responses[Status]> };

export type BodyOf<Id extends OperationId> = Given<
  Camel<Content<NonNullable<operations[Id]["requestBody"]>>>
>;
export type QueryOf<Id extends OperationId> = Given<Camel<NonNullable<Parameters<Id>["query"]>>>;
export type AnswerOf<Id extends OperationId> = Camel<
  Success<operations[Id]["responses"]>[keyof Success<operations[Id]["responses"]>]
>;

type PathArgs<Id extends OperationId> = Parameters<Id> extends { path: object } ? [id: string] : [];
type BodyArgs<Id extends OperationId> = operations[Id] extends { requestBody: object }
  ? [body: BodyOf<Id>]
  : [NonNullable<operations[Id]["requestBody"]>] extends [never]
    ? []
    : [body?: BodyOf<Id>];
type QueryArgs<Id extends OperationId> = [NonNullable<Parameters<Id>["query"]>] extends [never]
  ? []
  : [query?: QueryOf<Id>];

/** What an operation takes, in this order: the id in its path, its body, its query, how to ask. */
export type Args<Id extends OperationId> = [
  ...PathArgs<Id>,
  ...BodyArgs<Id>,
  ...QueryArgs<Id>,
  options?: RequestOptions,
];

export interface Input {
  /** Of the path; several if the path has several. */
  readonly id?: string | readonly string[];
  readonly body?: unknown;
  readonly query?: object;
  readonly headers?: Record<string, string>;
  /** For an operation that changes something: whether doing it twice is as good as once. Others always may be. */
  readonly repeatable?: boolean;
}

export type Send = <Id extends OperationId>(
  id: Id,
  input: Input,
  options?: RequestOptions,
) => Promise<{ readonly headers: Headers; readonly answer: AnswerOf<Id> }>;

export interface Operation {
  <Id extends OperationId>(id: Id): (...args: Args<Id>) => Promise<AnswerOf<Id>>;
  /** Gives what is inside the answer's only field. */
  <Id extends OperationId, Name extends keyof AnswerOf<Id> & string>(
    id: Id,
    unwrap: Name,
  ): (...args: Args<Id>) => Promise<AnswerOf<Id>[Name]>;
}

export function createSend(transport: Transport): Send {
  return async <Id extends OperationId>(id: Id, input: Input, options?: RequestOptions) => {
    const route: Route = ROUTES[id];
    const { headers, json } = await transport.send(
      {
        method: route.method,
        path: pathOf(route, input),
        credential: route.credential,
        ...encode(route, input),
        repeatable: input.repeatable ?? route.method === "GET",
      },
      options,
    );
    // The types are generated from the server's own description; answers are not checked again here, so that fields
    // and values which a newer server has are let through.
    return { headers, answer: fromWire(json) as AnswerOf<Id> };
  };
}

/** Makes methods of operations: one line of the client each. */
export function createOperation(send: Send): Operation {
  return (id: OperationId, unwrap?: string) => {
    const route: Route = ROUTES[id];
    return async (...args: unknown[]) => {
      const rest = [...args];
      const input: { id?: string; body?: unknown; query?: object } = {};
      if (route.path.includes("{")) input.id = rest.shift() as string;
      if (route.body !== null) input.body = rest.shift();
      if (route.query.length > 0) input.query = (rest.shift() as object | undefined) ?? {};
      const { answer } = await send(id, input, rest[0] as RequestOptions | undefined);
      return unwrap === undefined ? answer : (answer as Record<string, unknown>)[unwrap];
    };
  };
}

export function pathOf(route: Route, { id, query }: Input): string {
  const ids = [id].flat();
  const path = route.path.replace(/\{.+?\}/g, (placeholder) => {
    const next = ids.shift();
    // An empty one would address the whole collection.
    if (typeof next !== "string" || next === "" || next === "." || next === "..") {
      throw new BellhopError(`${placeholder.slice(1, -1)} must be an id, not ${JSON.stringify(next)}`);
    }
    return encodeURIComponent(next);
  });
  const search = formOf(query ?? {});
  return search === "" ? path : `${path}?${search}`;
}

function encode(route: Route, { body, headers = {} }: Input) {
  if (route.body === null || body === undefined) return { headers, body: null };
  if (route.body === "form") {
    return {
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      body: formOf(body as object),
    };
  }
  return {
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(route.snake ? toWire(body) : body),
  };
}

function formOf(fields: object): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    const wire = snakeName(name);
    if (value === undefined || value === null) continue;
    // Several values of one name; and names of the caller's own, such as `metadata.order`.
    if (Array.isArray(value)) for (const each of value) form.append(wire, String(each));
    else if (typeof value === "object" && !(value instanceof Date))
      for (const [key, each] of Object.entries(value)) form.append(`${wire}.${key}`, String(each));
    else form.set(wire, String(value));
  }
  return form.toString();
}
