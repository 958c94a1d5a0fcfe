import type { FastifyRequest } from "fastify";

const DIGITS = /^\d{1,16}$/;

/**
 * A query string has only text. Reads these parameters as integers before the schema looks at them; what is not
 * plainly one, or came twice, stays as it is and breaks the rule there.
 */
export function readIntegers(...names: readonly string[]): (request: FastifyRequest) => Promise<void> {
  return async ({ query }) => {
    if (!isRecord(query)) return;
    for (const name of names) {
      const text = query[name];
      if (typeof text === "string" && DIGITS.test(text)) query[name] = Number(text);
    }
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
