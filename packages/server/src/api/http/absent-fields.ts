import type { FastifyRequest, preValidationHookHandler } from "fastify";

/**
 * `null` means "not given": removes such fields from a body before validation, so that an optional one is omitted and a
 * required one is missing. Only known fields: a misspelt one must not disappear.
 */
export function dropNulls(body: unknown, known: readonly string[]): void {
  if (typeof body !== "object" || body === null) return;
  for (const field of known) {
    if (Object.getOwnPropertyDescriptor(body, field)?.value === null) Reflect.deleteProperty(body, field);
  }
}

/** Few bodies contain a null: the others need no scan. */
export function mayHoldNulls({ bodyText }: Pick<FastifyRequest, "bodyText">): boolean {
  return bodyText.includes("null");
}

/** The same for a route whose body has these fields. */
export function nullsDropped(known: readonly string[]): preValidationHookHandler {
  return (request, _reply, done) => {
    if (mayHoldNulls(request)) dropNulls(request.body, known);
    done();
  };
}
