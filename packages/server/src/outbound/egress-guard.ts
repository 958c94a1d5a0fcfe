import { isIP } from "node:net";
import type { AddressGuard, GuardVerdict } from "./address-guard.ts";
import { isBadPort } from "./bad-ports.ts";
import { createAllowList } from "./egress-allow.ts";
import type { EgressPolicy } from "./egress-policy.ts";
import { isPrivateName, trimHostname } from "./host-name.ts";
import { isPublicAddress, parseIpAddress } from "./ip-address.ts";
import { parseTarget } from "./target.ts";

export interface EgressGuardOptions {
  readonly policy: EgressPolicy;
  /** On top of `public`, see parseAllowEntry. Without effect under `any`. */
  readonly allow: readonly string[];
}

export interface EgressGuard extends Required<AddressGuard> {
  /**
   * The rule that a URL breaks before it is called, as the end of a sentence after the field's name ("must not point to
   * …"), or null. Null is no guarantee: the addresses of a name are checked at the call.
   */
  refuseUrl(url: string): string | null;
}

type Refusal = "address" | "port";

/**
 * The same text for every refusal: the caller must not learn which rule it was, and so what our resolver found. It
 * names the host as written.
 */
function sentence(hostname: string, port: number): string {
  return `The egress policy refuses the call: host ${hostname} is private or reserved, or port ${port} is not for HTTP`;
}

const RULES: Readonly<Record<Refusal, (port: number) => string>> = {
  address: () => "must not point to a private or reserved address",
  port: (port) => `must not use port ${port}, which is not for HTTP`,
};

const ALLOWED: GuardVerdict = { allowed: true };

/** Throws on a malformed entry of `allow`. */
export function createEgressGuard({ policy, allow }: EgressGuardOptions): EgressGuard {
  const allowList = createAllowList(allow);

  function refuseName(hostname: string, port: number): Refusal | null {
    if (policy === "any" || isIP(hostname) !== 0) return null;
    const name = trimHostname(hostname);
    if (allowList.hasName(name, port) || allowList.hasAddressesFor(port)) return null;
    if (isBadPort(port)) return "port";
    return isPrivateName(name) ? "address" : null;
  }

  function refuseAddresses(hostname: string, addresses: readonly string[], port: number): Refusal | null {
    if (policy === "any") return null;
    const name = isIP(hostname) === 0 ? trimHostname(hostname) : null;
    if (name !== null && allowList.hasName(name, port)) return null;
    // A private name is allowed only by listed addresses, never by public ones.
    const mustBeListed = name !== null && isPrivateName(name);
    for (const text of addresses) {
      const address = parseIpAddress(text);
      if (address === null) return "address";
      if (allowList.hasAddress(address, port)) continue;
      if (mustBeListed || !isPublicAddress(address)) return "address";
      if (isBadPort(port)) return "port";
    }
    return null;
  }

  return {
    checkName(hostname, port) {
      return toVerdict(refuseName(hostname, port), hostname, port);
    },
    check(hostname, addresses, port) {
      return toVerdict(refuseAddresses(hostname, addresses, port), hostname, port);
    },
    refuseUrl(url) {
      // Fast path: this runs for every task.
      if (policy === "any") return null;
      const target = parseTarget(url);
      if (!target.valid) return "must be a valid http or https URL";
      const { hostname, port } = target;
      const refusal =
        isIP(hostname) === 0 ? refuseName(hostname, port) : refuseAddresses(hostname, [hostname], port);
      return refusal === null ? null : RULES[refusal](port);
    },
  };
}

function toVerdict(refusal: Refusal | null, hostname: string, port: number): GuardVerdict {
  return refusal === null ? ALLOWED : { allowed: false, message: sentence(hostname, port) };
}
