import { Resolver } from "node:dns/promises";
import { readErrorCode } from "./error-code.ts";
import { trimHostname } from "./host-name.ts";
import { createHostsFile } from "./hosts-file.ts";
import type { Lookup } from "./name-resolver.ts";

/**
 * Names by DNS, asked asynchronously. The system's own resolver (getaddrinfo) has two threads for the whole process:
 * two names whose servers hang stop the calls of everybody. Here a name that hangs costs a socket for five seconds.
 *
 * The system's DNS servers and its hosts file are used; its search domains are not: a name is asked as it is written,
 * so the same URL means the same host on every node.
 */

/** From the question to an address or none. Below the time for connecting, of which it is a part. */
const DEADLINE_MS = 5_000;
/** One server that is silent leaves time for the next. */
const TRY_MS = 1_500;
const TRIES = 2;
/** Where one family has an address, the other gets this much longer: some servers never answer questions for IPv6. */
const OTHER_FAMILY_MS = 250;

/** A change of address is seen after five minutes, whatever its TTL said. */
const LONGEST_KEPT_MS = 300_000;
/** The TTL of "no such name" is not handed on by the resolver; this is what the shortest usual ones are. */
const MISSING_KEPT_MS = 5_000;
/** Servers that fail or hang: a burst of retries asks once a second. */
const FAILURE_KEPT_MS = 1_000;
/** Names kept. The one that was asked for longest ago goes first. */
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

  /** A resolver for each question: it can be cancelled by itself, and knows the servers that the system has now. */
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
      // Kept for whom it may concern; perhaps nobody asks again.
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

/** IPv4 first, each family in turn: only some are tried, and a machine without one of the two must find the other. */
function interleave<T>(first: readonly T[], second: readonly T[]): T[] {
  const longer = Math.max(first.length, second.length);
  return Array.from({ length: longer }, (_, index) => [
    ...first.slice(index, index + 1),
    ...second.slice(index, index + 1),
  ]).flat();
}
