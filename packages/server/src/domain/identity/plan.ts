export const PLANS = ["free", "pro", "enterprise"] as const;
export type Plan = (typeof PLANS)[number];

const REQUESTS_PER_MINUTE: Readonly<Record<Plan, number | null>> = { free: 60, pro: 600, enterprise: null };

/** How many requests a minute a team may make; null is no limit. Only an enterprise team has a figure of its own. */
export function requestsPerMinute(plan: Plan, custom: number | null): number | null {
  return plan === "enterprise" ? custom : REQUESTS_PER_MINUTE[plan];
}
