import { invalid, mustBe } from "./complaint.ts";
import type { Problem, ProblemDetail } from "./problem.ts";
import { vaultReferences } from "./vault-token.ts";

/** 1 to 128 characters that may stand in a path. */
export const FLOW_KEY_PATTERN = "^[A-Za-z0-9._:@-]{1,128}$";

const FLOW_KEY = new RegExp(FLOW_KEY_PATTERN);

/** Keys that follow from the call. */
const HOST = "$host";
const TOKEN = "$token";

export const FLOW_LIMITS = {
  concurrency: 1_000,
  rate: 100_000,
  periodSeconds: 604_800,
  maxWaiting: 1_000_000,
} as const;

/** The flow that a task names, with the limits that it carries. */
export interface TaskFlow {
  readonly key: string;
  readonly concurrency: number | null;
  readonly rate: number | null;
  /** Seconds; set if the rate is. */
  readonly period: number | null;
  /** Its tasks start one at a time, in the order of creation. Null: it says nothing of it. */
  readonly ordered: boolean | null;
}

/** As written: a key, or a key with limits. */
export type AskedFlow =
  | string
  | {
      readonly key: string;
      readonly concurrency?: number;
      readonly rate?: number;
      readonly period?: number;
      readonly ordered?: boolean;
    };

/** Of a task that names its flow only. */
export const NO_LIMITS = { concurrency: null, rate: null, period: null, ordered: null } as const;

export function isFlowKey(text: string): boolean {
  return FLOW_KEY.test(text);
}

export function flowComplaints(asked: AskedFlow): ProblemDetail[] {
  const { key, concurrency, rate, period, ordered } = typeof asked === "string" ? { key: asked } : asked;
  const field = typeof asked === "string" ? "flow" : 'flow["key"]';
  const complaints: ProblemDetail[] = [];
  if (key.startsWith("$") ? key !== HOST && key !== TOKEN : !isFlowKey(key))
    complaints.push(
      mustBe(field, `1 to 128 characters of A-Z a-z 0-9 . _ : @ -, or "${HOST}", or "${TOKEN}"`),
    );
  if (period !== undefined && rate === undefined)
    complaints.push({ field: 'flow["period"]', error: 'flow["period"] needs flow["rate"]' });
  if (ordered && concurrency !== undefined && concurrency !== 1)
    complaints.push(mustBe('flow["concurrency"]', "1 in an ordered flow"));
  return complaints;
}

export function readFlow(asked: AskedFlow): TaskFlow {
  if (typeof asked === "string") return { key: asked, ...NO_LIMITS };
  const { key, concurrency = null, rate = null, period = 1, ordered = null } = asked;
  return { key, concurrency, rate, period: rate === null ? null : period, ordered };
}

/** The flow with its key as stored: `$host` and `$token` follow from the call. */
export function resolveFlow(
  flow: TaskFlow,
  call: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
): TaskFlow {
  if (flow.key === HOST) return { ...flow, key: hostKey(call.url) };
  if (flow.key === TOKEN) return { ...flow, key: tokenKey(call.headers) };
  return flow;
}

/** The name as URLs have it: lower-case ASCII, without port, brackets and final dot. */
function hostKey(url: string): string {
  const { hostname } = new URL(url);
  const key = `host:${hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "")}`;
  if (!isFlowKey(key)) throw refuse(`flow "${HOST}" cannot name this host: write a key of your own`);
  return key;
}

function tokenKey(headers: Readonly<Record<string, string>>): string {
  const references = vaultReferences(headers)
    .map(({ header, tokenId }) => ({ name: header.toLowerCase(), tokenId }))
    .sort((one, other) => rank(one.name) - rank(other.name) || (one.name < other.name ? -1 : 1));
  const [first] = references;
  if (first === undefined) throw refuse(`flow "${TOKEN}" needs a header whose value is a vault token`);
  return `token:${first.tokenId}`;
}

function rank(header: string): number {
  return header === "authorization" ? 0 : header === "x-api-key" ? 1 : 2;
}

function refuse(error: string): Problem {
  return invalid([{ field: "flow", error }]);
}
