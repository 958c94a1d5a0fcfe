import { mustBe } from "./complaint.ts";
import type { ProblemDetail } from "./problem.ts";
import { cutToBytes } from "./result-body.ts";
import { isStorable, STORABLE_RULE } from "./storable-text.ts";

/** Limits of tags and metadata, which are in every row and every list. */
export const LABEL_LIMITS = { tags: 10, tag: 64, entries: 16, bytes: 1024 } as const;

export function tagComplaints(tags: readonly string[]): ProblemDetail[] {
  if (!tags.every(isStorable)) return [mustBe("tags", STORABLE_RULE)];
  return new Set(tags).size < tags.length ? [mustBe("tags", "distinct")] : [];
}

export function metadataComplaints(metadata: Readonly<Record<string, string>>): ProblemDetail[] {
  const entries = Object.entries(metadata);
  const texts = entries.flat();
  if (!texts.every(isStorable)) return [mustBe("metadata", STORABLE_RULE)];
  if (entries.length <= LABEL_LIMITS.entries && !cutToBytes(texts.join(""), LABEL_LIMITS.bytes).cut)
    return [];
  return [
    mustBe("metadata", `at most ${LABEL_LIMITS.entries} entries and ${LABEL_LIMITS.bytes} bytes together`),
  ];
}
