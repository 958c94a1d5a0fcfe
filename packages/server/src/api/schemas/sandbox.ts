import { Type } from "typebox";
import { oneOf } from "./field.ts";

const WORDS = ["true", "false"] as const;

/** Of a query that counts or lists tasks. */
export const sandbox = Type.Optional(
  oneOf(WORDS, {
    description: "`true` shows the sandbox, otherwise live tasks. Test keys always see only the sandbox.",
  }),
);

/** Null: as the credential says. */
export function readSandbox(said: (typeof WORDS)[number] | undefined): boolean | null {
  return said === undefined ? null : said === "true";
}
