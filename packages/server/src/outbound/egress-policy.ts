import { isIPv4 } from "node:net";

export type EgressPolicy = "public" | "any";

export interface Egress {
  readonly policy: EgressPolicy;
  /** The reason for the policy, for the operator. */
  readonly why: string;
  /** Exceptions to `public`: addresses, blocks and host names. */
  readonly allow: readonly string[];
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
