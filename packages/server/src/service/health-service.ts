import { type DatabaseHealth, tryToWrite } from "../store/database-health.ts";
import { findSchemaConflict } from "../store/migrate.ts";
import type { Sql } from "../store/sql.ts";

export interface Health {
  readonly ready: boolean;
  /** Each check by name: "ok", or what is wrong. */
  readonly checks: Readonly<Record<string, string>>;
}

export interface HealthService {
  check(): Promise<Health>;
}

/** A lost connection is replaced long before; a longer failure is not temporary. */
const LATE_MS = 3_000;

/**
 * Ready means: the database answers, also to the statements that store, claim and settle tasks; its schema is ours or a
 * later compatible one; and the dispatcher's lease is valid, on a node that has one.
 */
export function createHealthService(deps: {
  readonly sql: Sql;
  /** Health of the connections that tasks use, by purpose. */
  readonly databaseHealth: Readonly<Record<string, DatabaseHealth>>;
  /** Null on a node that makes no calls. */
  readonly isDispatching: (() => boolean) | null;
  /** For a multi-process server: whether all processes have started. Default: there is one. */
  readonly isServerStarted?: (() => boolean) | undefined;
}): HealthService {
  async function unanswered(): Promise<string | null> {
    for (const [name, health] of Object.entries(deps.databaseHealth)) {
      if (health.unansweredMs() <= LATE_MS) continue;
      // The last statement failed, and there may be no further one that would show a recovery.
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
