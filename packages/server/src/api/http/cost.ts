import type { FastifyContextConfig, FastifyRequest } from "fastify";
import type { Api } from "./schema-types.ts";

const KIB = 1024;
export const MIB = 1024 * KIB;
/** Of an answer that has a few fields. */
export const SMALL = 64 * KIB;
/** Of what may repeat all that callers and targets have sent: see docs/decisions/0050-size-of-answers.md. */
export const RECORD = 16 * MIB;
/** Of a file of the build. */
export const FILE = 4 * MIB;

/**
 * - `point`: reads rows that are named by keys, a hundred at most;
 * - `page`: reads one page of small entries along an index;
 * - `scan`: looks at more rows than it answers, or at entries so large that one may fill the answer. It waits for a turn in the line of
 *   scans, see scan-turns.ts;
 * - `write`: changes rows that are named by keys, a hundred at most;
 * - `fan-out`: changes many rows, in portions, and teams take turns between them: see service/turns.ts for work without the
 *   database, service/team-turns.ts for a request's own statements. Tasks that it submits take turns in the intake.
 */
const MOST = {
  point: { rows: 100, bytes: RECORD },
  page: { rows: 1_001, bytes: MIB },
  scan: { rows: Number.MAX_SAFE_INTEGER, bytes: RECORD },
  write: { rows: 100, bytes: RECORD },
  "fan-out": { rows: Number.MAX_SAFE_INTEGER, bytes: MIB },
} as const;

/** What one request to a route costs at most. Every route declares it; the server does not start without it. */
export interface Cost {
  readonly kind: keyof typeof MOST;
  /** Rows that it reads or changes, without those of its credential, of counters and of the audit log. */
  readonly rows: number;
  /** Of its answer. What is streamed counts by its portions. */
  readonly bytes: number;
  /** Requests that look at no more rows than a page, and so need no turn in the line of scans. */
  readonly unless?: (request: FastifyRequest) => boolean;
}

declare module "fastify" {
  interface FastifyContextConfig {
    cost?: Cost;
  }
}

/** For the `config` of a route, beside its access. */
export function costs(kind: Cost["kind"], bound: Omit<Cost, "kind">): FastifyContextConfig {
  return { cost: { kind, ...bound } };
}

/** Deny by default, as with access: a later route without a cost, or with one beyond its kind, prevents the start. */
export function requireCosts(app: Api): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    const cost = config?.cost;
    const route = `${method} ${url}`;
    if (cost === undefined) throw new Error(`${route} does not declare its cost`);
    const most = MOST[cost.kind];
    for (const unit of ["rows", "bytes"] as const)
      if (!(cost[unit] >= 0 && cost[unit] <= most[unit]))
        throw new Error(`${route} costs ${cost[unit]} ${unit}: a ${cost.kind} costs at most ${most[unit]}`);
    if (cost.kind === "scan" && config?.access === undefined)
      throw new Error(`${route}: a scan takes turns by team, and this route knows none`);
    if (cost.unless !== undefined && cost.kind !== "scan")
      throw new Error(`${route}: only a scan has exceptions`);
  });
}
