import type { Call, RefuseUrl } from "./call.ts";
import { invalid } from "./complaint.ts";
import { NO_LIMITS, resolveFlow } from "./flow.ts";
import { isRedacted } from "./message.ts";
import { pollConfigComplaints } from "./poll/poll-rules.ts";
import { Problem, type ProblemDetail } from "./problem.ts";
import type { Shape, Task } from "./task.ts";
import { callComplaints } from "./task-request.ts";

/** The parts of a call that a retry may replace, each as a whole. */
export const CORRECTABLE = ["body", "headers", "url"] as const;
export type CorrectableField = (typeof CORRECTABLE)[number];

/** What each kind of task calls them. */
export const CORRECTION_NAMES: Readonly<Record<Shape, Readonly<Record<CorrectableField, string>>>> = {
  queue: { body: "payload", headers: "headers", url: "webhook_url" },
  direct: { body: "body", headers: "headers", url: "targetUrl" },
};

export interface Correction {
  /** At least one. */
  readonly fields: readonly CorrectableField[];
  /** The kind of task whose names the caller used; null if both have them. */
  readonly shape: Shape | null;
  readonly body?: { readonly text: string; readonly isJson: boolean };
  readonly headers?: Call["headers"];
  readonly url?: string;
  /** The egress policy of this server. */
  readonly refuseUrl: RefuseUrl;
}

/** The corrected call, by the rules of a creation. */
export function correctCall(
  task: Pick<Task, "shape" | "call" | "bodyIsJson" | "follow" | "flow" | "message">,
  correction: Correction,
): { readonly call: Call; readonly bodyIsJson: boolean; readonly flow: string | null } {
  const { shape, follow } = task;
  const names = CORRECTION_NAMES[shape];
  if (correction.shape !== null && correction.shape !== shape)
    throw invalid(foreignFields(correction, correction.shape, shape));
  const { body, headers = task.call.headers, url = task.call.url, refuseUrl } = correction;
  const call = { ...task.call, url, headers, body: body === undefined ? task.call.body : body.text };
  const bodyIsJson = body === undefined || shape === "queue" ? task.bodyIsJson : body.isJson;
  const complaints = callComplaints({ shape, call, bodyIsJson }, { names, refuseUrl });
  if (correction.url !== undefined && follow.pollConfig !== null && follow.provider === null)
    complaints.push(...pollConfigComplaints(follow.pollConfig, url, refuseUrl));
  complaints.push(...hashComplaints(task, correction, names));
  if (complaints.length > 0) throw invalid(complaints);
  return { call, bodyIsJson, flow: task.flow && movedFlow(task.flow, task.call, call) };
}

/** A caller that sends back what an answer has shown would store the hash in place of the value. */
function hashComplaints(
  { call: shown, message }: Pick<Task, "call" | "message">,
  { body, headers = {} }: Correction,
  names: Readonly<Record<CorrectableField, string>>,
): ProblemDetail[] {
  const redact = message?.redact;
  if (redact === undefined) return [];
  const hashes = new Set(
    Object.entries(shown.headers).flatMap(([name, value]) => (isRedacted(redact, name) ? [value] : [])),
  );
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    hashes.has(value) ? [`${names.headers}.${name}`] : [],
  );
  if (redact.body === true && body?.text === shown.body) fields.push(names.body);
  return fields.map((field) => ({
    field,
    error: `${field} is how a redacted value is shown: give the value, or leave the field out`,
  }));
}

/** A flow that is named after the target or its vault token is that of the new call. */
function movedFlow(key: string, before: Call, after: Call): string {
  for (const name of ["$host", "$token"]) {
    const resolved = keyOrNull(name, before);
    if (resolved === key) return resolveFlow({ ...NO_LIMITS, key: name }, after).key;
  }
  return key;
}

function keyOrNull(name: string, call: Call): string | null {
  try {
    return resolveFlow({ ...NO_LIMITS, key: name }, call).key;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

function foreignFields({ fields }: Correction, said: Shape, shape: Shape): ProblemDetail[] {
  return fields
    .filter((field) => CORRECTION_NAMES[said][field] !== CORRECTION_NAMES[shape][field])
    .map((field) => {
      const [name, own] = [CORRECTION_NAMES[said][field], CORRECTION_NAMES[shape][field]];
      return {
        field: name,
        error: `${name} is a field of ${said} tasks: this is a ${shape} task, use ${own}`,
      };
    });
}
