import { type DatabaseHealth, tryToWrite } from "../store/database-health.ts";
import { findSchemaConflict } from "../store/migrate.ts";
import type { Sql } from "../store/sql.ts";

export interface Health {
  readonly ready: boolean;
  /** Each part by name: "ok", or what is wrong with it. */
  readonly checks: Readonly<Record<string, string>>;
}

export interface HealthService {
  check(): Promise<Health>;
}

/** A lost connection is replaced long before; what lasts longer than this is not a moment's trouble. */
const LATE_MS = 3_000;

/**
 * Ready means: the database answers, also to what stores, claims and settles tasks, it has our schema or a later one on which
 * our statements work, and the dispatcher's lease is alive, on a node that has one.
 */
export function createHealthService(deps: {
  readonly sql: Sql;
  /** Of the connections that tasks go through, by what they are for. */
  readonly databaseHealth: Readonly<Record<string, DatabaseHealth>>;
  /** Null on a node that makes no calls. */
  readonly isDispatching: (() => boolean) | null;
  /** Of a server of several processes: whether all of them have started. Left out: there is one. */
  readonly isServerStarted?: (() => boolean) | undefined;
}): HealthService {
  async function unanswered(): Promise<string | null> {
    for (const [name, health] of Object.entries(deps.databaseHealth)) {
      if (health.unansweredMs() <= LATE_MS) continue;
      // The last statement failed, and there may be none any more to tell that the next would not.
      await tryToWrite(health.database).catch(() => {});
      const lateMs = health.unansweredMs();
      if (lateMs > LATE_MS) return `has not answered ${name} for ${Math.round(lateMs / 1000)} s`;
    }
    return null;
  }

  return {
    async check() {
      const [schema, silence] = await Promise.all([
        findSchemaConflict(deps.sql).then(
          (conflict) => conflict ?? "ok",
          () => null,
        ),
        unanswered(),
      ]);
      const checks = {
        database: schema === null ? "cannot be reached" : (silence ?? "ok"),
        migrations: schema ?? "unknown",
        ...(deps.isDispatching !== null && {
          dispatcher: deps.isDispatching() ? "ok" : "holds no lease",
        }),
        ...(deps.isServerStarted !== undefined && {
          processes: deps.isServerStarted() ? "ok" : "not all have started",
        }),
      };
      return { ready: Object.values(checks).every((check) => check === "ok"), checks };
    },
  };
}
