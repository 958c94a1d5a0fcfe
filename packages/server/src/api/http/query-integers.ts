import type { FastifyRequest } from "fastify";

const DIGITS = /^\d{1,16}$/;

/**
 * Reads these query parameters as integers before validation; other values, and repeated ones, stay unchanged and fail
 * there.
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
