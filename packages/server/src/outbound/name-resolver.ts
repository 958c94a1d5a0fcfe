import { lookup as dnsLookup } from "node:dns/promises";

/** Every address of a name; none where there is no such name. */
export interface Lookup {
  (hostname: string): Promise<readonly string[]>;
  /** What is still known from an earlier question, perhaps that it failed; null if it has to be asked. */
  recall?(hostname: string): Promise<readonly string[]> | null;
  /** Gives up all questions under way: they would hold up the end of the process. */
  cancel?(): void;
}

/** By dns: Bellhop asks the system's DNS servers itself. By system: getaddrinfo, with all that the system knows. */
export const RESOLVERS = ["dns", "system"] as const;
export type ResolverKind = (typeof RESOLVERS)[number];

/** Questions of one team under way at once. What is above waits in line, behind that team's own. */
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
