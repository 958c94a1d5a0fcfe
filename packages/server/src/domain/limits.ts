import { mustBe } from "./complaint.ts";
import type { Plan } from "./identity/plan.ts";
import { Problem, type ProblemDetail } from "./problem.ts";

interface Bound {
  /** The value of each plan; null is no limit. An enterprise team has none unless it is set. */
  readonly free: number | null;
  readonly pro: number | null;
  /** The unit in a refusal, after the figure: `at most 20 calls in flight`. */
  readonly unit: string;
  /** A minimum: smaller figures are refused. */
  readonly isLeast?: true;
}

/**
 * Every limit of a plan, in one place. Counting, refusals, display and settings derive from it; code that adds an item
 * calls `requireRoom`.
 */
export const LIMITS = {
  callsInFlight: { free: 20, pro: 200, unit: "calls in flight" },
  callsPerSecondToHost: { free: 10, pro: 100, unit: "calls a second to one host" },
  eventStreams: { free: 5, pro: 50, unit: "open event streams on a node" },
  timeoutSeconds: { free: 300, pro: 900, unit: "seconds of timeout" },
  retries: { free: 10, pro: 100, unit: "retries" },
  retryDelaySeconds: { free: 1, pro: 1, unit: "seconds between retries", isLeast: true },
  pollIntervalSeconds: { free: 5, pro: 1, unit: "seconds between polls", isLeast: true },
  pollDurationSeconds: { free: 3_600, pro: 86_400, unit: "seconds of polling" },
  tasksOpen: { free: 10_000, pro: 1_000_000, unit: "tasks that have not ended" },
  bytesStored: { free: 268_435_456, pro: 10_737_418_240, unit: "bytes stored" },
  queues: { free: 50, pro: 1_000, unit: "queues" },
  urlGroups: { free: 50, pro: 1_000, unit: "URL groups" },
  flowsOpen: { free: 1_000, pro: 100_000, unit: "flows with open tasks" },
  flows: { free: 50, pro: 1_000, unit: "flows with stored limits" },
  vaultTokens: { free: 50, pro: 1_000, unit: "vault tokens" },
  applications: { free: 10, pro: 100, unit: "applications" },
  schedules: { free: 20, pro: 500, unit: "schedules" },
  webhooks: { free: 5, pro: 50, unit: "webhooks" },
  loopMsPerSecond: { free: 200, pro: 500, unit: "milliseconds of a busy node's event loop a second" },
  jsonDepth: { free: 200, pro: 1_000, unit: "levels of nesting in a large JSON text" },
  jsonKeys: { free: 200_000, pro: 1_000_000, unit: "keys in a large JSON text" },
  jsonElements: { free: 1_000_000, pro: 4_000_000, unit: "array elements in a large JSON text" },
  jsonStringLength: { free: 16_777_216, pro: 16_777_216, unit: "characters in one JSON string" },
} as const satisfies Record<string, Bound>;

export type LimitName = keyof typeof LIMITS;
export const LIMIT_NAMES = Object.keys(LIMITS) as readonly LimitName[];

/** The limits of one team; null is no limit. */
export type Limits = Readonly<Record<LimitName, number | null>>;
/** Limits that replace those of the plan. */
export type OwnLimits = Partial<Limits>;

/** The operator's settings for each plan. */
export type PlanLimits = Readonly<Record<Plan, OwnLimits>>;

/** Resolves a team's limits: its own, then those set for its plan, then the plan's defaults. */
export type LimitsOf = (plan: Plan, own: OwnLimits | null) => Limits;

/** Most teams have no own limits: teams of one plan share one object. */
export function createLimitsOf(planLimits: PlanLimits = { free: {}, pro: {}, enterprise: {} }): LimitsOf {
  const ofPlan = (plan: Plan): Limits => {
    const figures = LIMIT_NAMES.map((name) => [name, plan === "enterprise" ? null : LIMITS[name][plan]]);
    return Object.freeze({ ...(Object.fromEntries(figures) as Limits), ...planLimits[plan] });
  };
  const plans = { free: ofPlan("free"), pro: ofPlan("pro"), enterprise: ofPlan("enterprise") };
  return (plan, own) => (own === null ? plans[plan] : { ...plans[plan], ...own });
}

/** The limits of a team without limits. */
export const UNBOUNDED: Limits = createLimitsOf()("enterprise", null);

/** Far beyond the capacity of one database: a larger figure is a typo. */
const MOST = Number.MAX_SAFE_INTEGER;

/** Parses `name=20, other=none`, or says what is wrong with the text. */
export function parseLimits(text: string): OwnLimits | { readonly wrong: string } {
  const own = new Map<string, number | null>();
  for (const part of text.split(",").map((entry) => entry.trim())) {
    if (part === "") continue;
    const [, name = "", figure = ""] = /^(\w+)\s*=\s*(\d{1,16}|none)$/.exec(part) ?? [];
    if (!isLimitName(name) || Number(figure) > MOST)
      return {
        wrong: `has "${part}", which is no <name>=<number> or <name>=none; names are ${LIMIT_NAMES.join(", ")}`,
      };
    own.set(name, figure === "none" ? null : Number(figure));
  }
  return Object.fromEntries(own);
}

export function isWrong(read: OwnLimits | { readonly wrong: string }): read is { readonly wrong: string } {
  return "wrong" in read;
}

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(LIMITS, name);
}

/** A plan with its limits, as in a principal. */
export interface Terms {
  readonly plan: Plan;
  readonly limits: Limits;
}

/** The complaint about a figure that the plan does not allow; null if it is allowed or absent. */
export function limitComplaint(
  { plan, limits }: Terms,
  name: LimitName,
  field: string,
  figure: number | null | undefined,
): ProblemDetail | null {
  const bound = limits[name];
  if (bound === null || figure === null || figure === undefined) return null;
  const isLeast = "isLeast" in LIMITS[name];
  if (isLeast ? figure >= bound : figure <= bound) return null;
  return mustBe(field, `at ${isLeast ? "least" : "most"} ${bound}: ${name} of the plan ${plan}`);
}

/** Refuses another item if the team has reached its limit. */
export function requireRoom({ plan, limits }: Terms, name: LimitName, used: number): void {
  const most = limits[name];
  if (most === null || used < most) return;
  throw new Problem("limit_reached", { plan, most: String(most), unit: LIMITS[name].unit, name });
}

/** The figure, clamped to the limit if there is one. */
export function within(limits: Limits, name: LimitName, figure: number): number {
  const bound = limits[name];
  if (bound === null) return figure;
  return "isLeast" in LIMITS[name] ? Math.max(figure, bound) : Math.min(figure, bound);
}
