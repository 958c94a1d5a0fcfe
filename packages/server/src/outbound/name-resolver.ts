import { lookup as dnsLookup } from "node:dns/promises";

/** Every address of a name; none where there is no such name. */
export interface Lookup {
  (hostname: string): Promise<readonly string[]>;
  /** The cached result, perhaps a failure; null if a lookup is needed. */
  recall?(hostname: string): Promise<readonly string[]> | null;
  /** Cancels all running lookups, which would delay the end of the process. */
  cancel?(): void;
}

/** By dns: Bellhop asks the system's DNS servers itself. By system: getaddrinfo, with all that the system knows. */
export const RESOLVERS = ["dns", "system"] as const;
export type ResolverKind = (typeof RESOLVERS)[number];

/** Concurrent lookups per team. Further ones wait behind that team's own. */
export const LOOKUPS_PER_TEAM: Readonly<Record<ResolverKind, number>> = {
  dns: 32,
  // It has two threads for the whole process: no team may have both.
  system: 1,
};

/** The machine's own resolver: mDNS, NIS, search domains and whatever else it was set up for. */
export async function systemLookup(hostname: string): Promise<readonly string[]> {
  const found = await dnsLookup(hostname, { all: true });
  return found.map((entry) => entry.address);
}
