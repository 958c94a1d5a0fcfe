import { isIPv4 } from "node:net";

export const EGRESS_POLICIES = ["public", "any"] as const;
export type EgressPolicy = (typeof EGRESS_POLICIES)[number];

export interface Egress {
  readonly policy: EgressPolicy;
  /** For the operator: what the policy was chosen by. */
  readonly why: string;
  /** On top of `public`: addresses, blocks and host names. */
  readonly allow: readonly string[];
}

/**
 * A server that only its own machine can reach belongs to a developer, whose targets are on that machine too.
 * Everyone else's must not become a way into their network.
 */
export function chooseEgressPolicy(
  given: EgressPolicy | null,
  host: string,
): { readonly policy: EgressPolicy; readonly why: string } {
  if (given !== null) return { policy: given, why: "set by BELLHOP_EGRESS" };
  return isLoopbackHost(host)
    ? { policy: "any", why: `HOST ${host} is this machine only; behind a proxy, set BELLHOP_EGRESS=public` }
    : { policy: "public", why: `HOST ${host} can be reached from outside; BELLHOP_EGRESS=any lifts this` };
}

/** One line for the start-up banner. */
export function describeEgress({ policy, why, allow }: Egress): string {
  if (policy === "any") return `any: calls may go to every address, private ones too (${why})`;
  const exceptions = allow.length === 0 ? "" : ` except ${allow.join(", ")}`;
  return `public: calls to private and reserved addresses are refused${exceptions} (${why})`;
}

/** Whether only this machine can reach a server that listens there. */
export function isLoopbackHost(host: string): boolean {
  return host === "::1" || host.toLowerCase() === "localhost" || (isIPv4(host) && host.startsWith("127."));
}
