import { lookup as dnsLookup } from "node:dns/promises";

export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** The machine's own resolver: it knows /etc/hosts and the names inside a container network, unlike a DNS client. */
export async function lookupAll(hostname: string): Promise<readonly string[]> {
  const found = await dnsLookup(hostname, { all: true });
  return found.map((entry) => entry.address);
}

/**
 * Shares one lookup among the connections that wait for the same name. The system resolver has four threads for
 * the whole process; a burst of calls to one slow name would otherwise hold them all. Nothing is kept afterwards.
 */
export function shareLookups(lookup: Lookup): Lookup {
  const running = new Map<string, Promise<readonly string[]>>();
  return (hostname) => {
    const joined = running.get(hostname);
    if (joined !== undefined) return joined;
    const started = lookup(hostname).finally(() => running.delete(hostname));
    running.set(hostname, started);
    return started;
  };
}
