import { excessText, jsonBounds } from "../domain/json/json-limits.ts";
import { type LookedUp, lookUp } from "../domain/json/look-up.ts";
import { ExtractedPayloads, MOST_OUTLINE_FIELDS } from "../domain/json/outline.ts";
import { NO_BOUNDS, type Scanned, scanJson } from "../domain/json/scan.ts";
import { type Limits, UNBOUNDED } from "../domain/limits.ts";
import { Problem } from "../domain/problem.ts";
import type { Job } from "./job.ts";
import { createJsonPool, type JobFailure, type JsonPool } from "./pool.ts";

/** A parsed body. */
export interface ReadBody {
  readonly value: unknown;
  /** The text as written, or its outline. */
  readonly text: string;
  /** Null if the text is complete. */
  readonly extracted: ExtractedPayloads | null;
}

/** The only entry for untrusted JSON: of callers, targets, providers and callbacks. */
export interface JsonGate {
  /** Parses a request body; null if it is short and should be parsed at once. Rejects with a problem. */
  readBody(teamId: number, text: string, limits: Limits | null): Promise<ReadBody> | null;
  /** Refuses a text that is not JSON, without building it. Throws or rejects with a problem. */
  check(teamId: number, text: string): void | Promise<void>;
  /** The values at paths of an answer. A promise only if it is long; never rejects. */
  lookUp(
    teamId: number,
    text: string,
    paths: readonly string[],
    keepBytes: number,
    limits: Limits,
  ): LookedUp | Promise<LookedUp>;
  readonly waiting: number;
  stop(): Promise<void>;
}

/**
 * A thread parses longer texts. The longest text below it takes one to two milliseconds, whatever it contains: its
 * length limits its depth, keys and elements, so they are not measured.
 */
export const SHORT_TEXT = 32 * 1024;

const WHY_NOT: Readonly<Record<JobFailure, string>> = {
  time: "took too long to be read",
  memory: "took too much memory to be read",
  crowded: "could not be read now",
  stopped: "could not be read now",
};

export function createJsonGate(pool: JsonPool = createJsonPool()): JsonGate {
  async function ask<J extends Job>(teamId: number, job: J) {
    const answer = await pool.run(teamId, job, true);
    if (typeof answer !== "string") return answer;
    throw answer === "time" || answer === "memory"
      ? new Problem("body_not_read")
      : new Problem(answer === "crowded" ? "bodies_waiting" : "stopping", {}, { retryAfterSeconds: 1 });
  }

  return {
    readBody(teamId, text, limits) {
      return text.length <= SHORT_TEXT ? null : readLarge(teamId, text, limits ?? UNBOUNDED);
    },
    check(teamId, text) {
      if (text.length <= SHORT_TEXT) return requireJson(scanJson(text, NO_BOUNDS, null, null));
      return ask(teamId, { kind: "check", text, bounds: NO_BOUNDS }).then(requireJson);
    },
    lookUp(teamId, text, paths, keepBytes, limits) {
      if (text.length <= SHORT_TEXT) return lookUp(text, paths, keepBytes);
      const job = { kind: "look_up", text, paths, keepBytes, bounds: jsonBounds(limits) } as const;
      return pool
        .run(teamId, job, false)
        .then((answer) =>
          typeof answer === "string" ? { kind: "refused", reason: WHY_NOT[answer] } : answer,
        );
    },
    get waiting() {
      return pool.waiting;
    },
    stop: () => pool.stop(),
  };

  async function readLarge(teamId: number, text: string, limits: Limits): Promise<ReadBody> {
    const bounds = jsonBounds(limits);
    const outlined = await ask(teamId, { kind: "outline", text, bounds });
    switch (outlined.kind) {
      case "not_json":
        throw new Problem("body_not_json");
      case "too_much":
        throw new Problem("body_bounds", { reason: excessText(outlined.bound, bounds) });
      case "too_many_fields":
        throw new Problem("body_bounds", {
          reason: `has more than ${MOST_OUTLINE_FIELDS} fields and list items outside of payload and body`,
        });
      case "json": {
        const { outline, places } = outlined;
        if (outline === null) return { value: JSON.parse(text), text, extracted: null };
        return { value: JSON.parse(outline), text: outline, extracted: new ExtractedPayloads(text, places) };
      }
    }
  }
}

function requireJson({ kind }: Scanned): void {
  if (kind !== "json") throw new Problem("body_not_json");
}
