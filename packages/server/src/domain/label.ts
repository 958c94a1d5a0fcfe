import { Problem } from "./problem.ts";

/** Maximum length of names. */
const LONGEST = 100;

/** Validates a name from the command line by the rules of the API's schemas. */
export function readLabel(what: string, text: string): string {
  const label = text.trim();
  const refuse = (reason: string) => new Problem("invalid", { reason: `${what} must ${reason}` });
  if (label === "" || label.length > LONGEST) throw refuse(`have 1 to ${LONGEST} characters`);
  if (/[\p{Cc}\p{Cs}]/u.test(label)) throw refuse("be text without control characters");
  return label;
}
