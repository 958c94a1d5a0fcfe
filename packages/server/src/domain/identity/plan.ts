export const PLANS = ["free", "pro", "enterprise"] as const;
export type Plan = (typeof PLANS)[number];

const REQUESTS_PER_MINUTE: Readonly<Record<Plan, number | null>> = { free: 60, pro: 600, enterprise: null };

/** The request limit per minute; null is no limit. Only an enterprise team has its own figure. */
export function requestsPerMinute(plan: Plan, custom: number | null): number | null {
  return plan === "enterprise" ? custom : REQUESTS_PER_MINUTE[plan];
}
