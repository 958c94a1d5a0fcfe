import { mustBe } from "../../domain/complaint.ts";
import type { ProblemDetail } from "../../domain/problem.ts";

/** For `preValidation`: an empty field gets the message of a missing one. */
export function blankComplaints(body: unknown, ...names: readonly string[]): ProblemDetail[] {
  if (typeof body !== "object" || body === null) return [];
  const fields: Readonly<Record<string, unknown>> = { ...body };
  return names
    .filter((field) => {
      const text = fields[field];
      return typeof text === "string" && text.trim() === "";
    })
    .map((field) => ({ field, error: `${field} is required` }));
}

/** Refuses control characters, NUL and lone surrogates. */
export function labelComplaints(field: string, text: string): ProblemDetail[] {
  return /[\p{Cc}\p{Cs}]/u.test(text) ? [mustBe(field, "text without control characters")] : [];
}
