import type { preValidationHookHandler } from "fastify";
import type { PollConfig } from "../../domain/poll/poll-config.ts";
import { completePollConfig, POLL_LIMITS, pollConfigComplaints } from "../../domain/poll/poll-rules.ts";
import type { Problem, ProblemDetail } from "../../domain/problem.ts";
import { broken, invalid } from "../http/complaint.ts";
import { isStorable, STORABLE_RULE } from "../http/storable-text.ts";
import type { OwnPollConfig } from "../schemas/poll-config.ts";

const LISTS = [
  ["doneValues", POLL_LIMITS.values],
  ["failValues", POLL_LIMITS.values],
  ["forwardHeaders", POLL_LIMITS.headers],
] as const;

/**
 * Before validation: ajv collects an error for every wrong item of a list, and half a million of them keep everybody
 * else waiting. Inside, the names are the same in both shapes.
 */
export const refuseLongLists: preValidationHookHandler = (request, _reply, done) => {
  done(longListIn(request.body) ?? undefined);
};

function longListIn(body: unknown): Problem | null {
  for (const field of ["poll_config", "pollConfig"]) {
    const config = member(body, field);
    if (config === undefined) continue;
    for (const [name, most] of LISTS) {
      const list = member(config, name);
      if (Array.isArray(list) && list.length > most) {
        return invalid([broken(`${field}["${name}"]`, `an array of at most ${most} strings`)]);
      }
    }
  }
  return null;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

export type ReadPollConfig =
  | { readonly ok: true; readonly pollConfig: PollConfig }
  | { readonly ok: false; readonly complaints: readonly ProblemDetail[] };

/** A caller's own configuration, which has passed its schema: the rules that a schema cannot say, and the defaults. */
export function readPollConfig(own: OwnPollConfig, firstCallUrl: string): ReadPollConfig {
  const complaints = [...textComplaints(own), ...pollConfigComplaints(own, firstCallUrl)];
  return complaints.length > 0
    ? { ok: false, complaints }
    : { ok: true, pollConfig: completePollConfig(own) };
}

/** It is kept with every task: one that cannot be stored must not get as far as the database. */
function textComplaints(own: OwnPollConfig): ProblemDetail[] {
  return Object.entries(own)
    .filter(([, value]) => [value].flat().some((part) => typeof part === "string" && !isStorable(part)))
    .map(([field]) => broken(field, STORABLE_RULE));
}
