import { Resolver } from "node:dns/promises";
import { readErrorCode } from "./error-code.ts";
import { trimHostname } from "./host-name.ts";
import { createHostsFile } from "./hosts-file.ts";
import type { Lookup } from "./name-resolver.ts";

/**
 * Asynchronous DNS lookups. The system's resolver (getaddrinfo) has two threads for the whole process: two names with
 * hanging servers would block all calls. Here a hanging name costs a socket for five seconds.
 *
 * It uses the system's DNS servers and hosts file, but not its search domains: a name is looked up as written, so the
 * same URL means the same host on every node.
 */

/** From the query to the result. Part of the connect timeout. */
const DEADLINE_MS = 5_000;
/** A silent server leaves time for the next. */
const TRY_MS = 1_500;
const TRIES = 2;
/** If one family has an address, the other gets this much longer: some servers never answer IPv6 queries. */
const OTHER_FAMILY_MS = 250;

/** A changed address is used after five minutes, regardless of its TTL. */
const LONGEST_KEPT_MS = 300_000;
/** The resolver does not expose the TTL of "no such name"; this is the shortest usual one. */
const MISSING_KEPT_MS = 5_000;
/** For failing servers: a burst of retries queries once a second. */
const FAILURE_KEPT_MS = 1_000;
/** Cached names. The least recently used one is evicted. */
const MOST_KEPT = 10_000;

export interface DnsLookupOptions {
  /** Instead of the system's. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  readonly deadlineMs?: number;
  readonly nowMs?: () => number;
}

interface Kept {
  readonly answer: Promise<readonly string[]>;
  readonly untilMs: number;
}

interface Found {
  readonly addresses: readonly string[];
  readonly keepMs: number;
}

export function createDnsLookup(options: DnsLookupOptions = {}): Lookup {
  const { servers, deadlineMs = DEADLINE_MS, nowMs = () => performance.now() } = options;
  const hosts = createHostsFile(nowMs, options.hostsFile);
  const kept = new Map<string, Kept>();
  const underWay = new Set<Resolver>();

  function keep(name: string, answer: Promise<readonly string[]>, keepMs: number): void {
    kept.delete(name);
    if (keepMs <= 0) return;
    kept.set(name, { answer, untilMs: nowMs() + keepMs });
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  }

  /** A resolver per query: it can be cancelled separately, and uses the system's current servers. */
  async function ask(name: string): Promise<Found> {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    underWay.add(resolver);
    let timer = setTimeout(() => resolver.cancel(), deadlineMs);
    const hurry = <T>(records: T): T => {
      clearTimeout(timer);
      timer = setTimeout(() => resolver.cancel(), Math.min(OTHER_FAMILY_MS, deadlineMs));
      return records;
    };
    const answers = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }).then(hurry),
      resolver.resolve6(name, { ttl: true }).then(hurry),
    ]);
    clearTimeout(timer);
    underWay.delete(resolver);
    const records = answers.map((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const all = interleave(records[0] ?? [], records[1] ?? []);
    if (all.length > 0) {
      const ttl = Math.min(...all.map((record) => record.ttl));
      return {
        addresses: all.map(({ address }) => address),
        keepMs: Math.min(ttl * 1000, LONGEST_KEPT_MS),
      };
    }
    const reasons: unknown[] = answers.flatMap((answer) =>
      answer.status === "rejected" ? [answer.reason] : [],
    );
    const trouble = reasons.find((reason) => !isMissing(reason));
    if (trouble !== undefined && !reasons.some((reason) => readErrorCode(reason) === "ENOTFOUND")) {
      throw trouble;
    }
    return { addresses: [], keepMs: MISSING_KEPT_MS };
  }

  async function find(name: string): Promise<readonly string[]> {
    const listed = await hosts.find(name);
    if (listed.length > 0) return listed;
    if (isLocalhost(name)) return ["127.0.0.1", "::1"];
    try {
      const { addresses, keepMs } = await ask(name);
      keep(name, Promise.resolve(addresses), keepMs);
      return addresses;
    } catch (error) {
      const failed = Promise.reject<readonly string[]>(error);
      // Cached; perhaps it is never awaited.
      failed.catch(() => {});
      keep(name, failed, FAILURE_KEPT_MS);
      throw error;
    }
  }

  return Object.assign((hostname: string) => find(trimHostname(hostname)), {
    recall(hostname: string) {
      const known = kept.get(trimHostname(hostname));
      return known !== undefined && nowMs() < known.untilMs ? known.answer : null;
    },
    cancel() {
      for (const resolver of underWay) resolver.cancel();
    },
  });
}

/** RFC 6761: never a question for a server. */
function isLocalhost(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost");
}

/** No such name, or one without an address of this family. */
function isMissing(reason: unknown): boolean {
  const code = readErrorCode(reason);
  return code === "ENOTFOUND" || code === "ENODATA";
}

/** IPv4 first, alternating: only some are tried, and a machine with one family must find it. */
function interleave<T>(first: readonly T[], second: readonly T[]): T[] {
  const longer = Math.max(first.length, second.length);
  return Array.from({ length: longer }, (_, index) => [
    ...first.slice(index, index + 1),
    ...second.slice(index, index + 1),
  ]).flat();
}
