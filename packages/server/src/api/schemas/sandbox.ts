import { Type } from "typebox";
import { oneOf } from "./field.ts";

const WORDS = ["true", "false"] as const;

/** Of a query that counts or lists tasks. */
export const sandbox = Type.Optional(
  oneOf(WORDS, {
    description:
      "`true`: the sandbox; otherwise what is outside of it. Test keys see no other, with or without it.",
  }),
);

/** Null: as the credential says. */
export function readSandbox(said: (typeof WORDS)[number] | undefined): boolean | null {
  return said === undefined ? null : said === "true";
}
