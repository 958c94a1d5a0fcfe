import type { Limits } from "../../domain/limits.ts";
import type { Sql } from "../../store/sql.ts";
import { type AlertCondition, LEAST_ENDED } from "./domain.ts";
import { readDepth, readEnded, readOldestDue } from "./store-figures.ts";

export interface FigureSources {
  readonly sql: Sql;
  /** Open circuit breakers, of one queue or of all. */
  readonly openBreakers: (teamId: number, queue: string | null) => Promise<number>;
  /** Webhooks that Bellhop disabled. */
  readonly disabledWebhooks: (teamId: number) => Promise<number>;
  /** The most firings of a schedule in a row that failed; null without schedules. */
  readonly failedFirings: (teamId: number, most: number) => Promise<number | null>;
  /** The stored bytes of a team, as its plan counts them. */
  readonly bytesOf: (teamId: number) => Promise<number>;
  /** Null for a team that is gone. */
  readonly limitsOf: (teamId: number) => Promise<Limits | null>;
  readonly isOperator: (teamId: number) => Promise<boolean>;
  /** The used part of the disk in percent; null if it is not known. */
  readonly diskPercent: () => Promise<number | null>;
}

export type ReadFigure = (condition: AlertCondition) => Promise<number | null>;

/** Reads the figures of one team in one round: each once, however many alerts compare it. */
export function createFigures(sources: FigureSources, teamId: number): ReadFigure {
  const known = new Map<string, Promise<number | null>>();
  return (condition) => {
    const { kind, queue, within, threshold } = condition;
    const key = JSON.stringify([kind, queue, within, isBounded(kind) ? threshold : null]);
    const figure = known.get(key) ?? readFigure(sources, teamId, condition);
    known.set(key, figure);
    return figure;
  };
}

/** Firings beyond the threshold that are looked at, because those that have not ended do not count. */
const OPEN_FIRINGS = 10;

/** These are counted up to a bound that depends on the threshold. */
function isBounded(kind: AlertCondition["kind"]): boolean {
  return kind === "depth" || kind === "schedule_failing";
}

async function readFigure(
  sources: FigureSources,
  teamId: number,
  { kind, queue, within, threshold }: AlertCondition,
): Promise<number | null> {
  const { sql } = sources;
  switch (kind) {
    case "failure_rate": {
      const { failed, ended } = await readEnded(sql, teamId, within ?? 0, queue);
      return ended < LEAST_ENDED ? null : (100 * failed) / ended;
    }
    case "oldest_pending":
      return readOldestDue(sql, teamId, queue);
    case "depth":
      return readDepth(sql, teamId, queue, threshold ?? 1);
    case "breaker_open":
      return sources.openBreakers(teamId, queue);
    case "webhook_disabled":
      return sources.disabledWebhooks(teamId);
    case "schedule_failing":
      return sources.failedFirings(teamId, (threshold ?? 1) + OPEN_FIRINGS);
    case "storage":
      return readStorage(sources, teamId);
  }
}

/** Of the disk for the operator's team, which has no plan that limits it; of the plan for others. */
async function readStorage(
  { bytesOf, limitsOf, isOperator, diskPercent }: FigureSources,
  teamId: number,
): Promise<number | null> {
  if (await isOperator(teamId)) return diskPercent();
  const most = (await limitsOf(teamId))?.bytesStored ?? null;
  return most === null || most === 0 ? null : (100 * (await bytesOf(teamId))) / most;
}
