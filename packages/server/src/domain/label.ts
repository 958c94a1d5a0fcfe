import { Problem } from "./problem.ts";

/** As long as every name that people give to things here may be. */
const LONGEST = 100;

/** A name as the command line takes it, by the rules that the API has in its schemas. */
export function readLabel(what: string, text: string): string {
  const label = text.trim();
  const refuse = (reason: string) => new Problem("invalid", { reason: `${what} must ${reason}` });
  if (label === "" || label.length > LONGEST) throw refuse(`have 1 to ${LONGEST} characters`);
  if (/[\p{Cc}\p{Cs}]/u.test(label)) throw refuse("be text without control characters");
  return label;
}
