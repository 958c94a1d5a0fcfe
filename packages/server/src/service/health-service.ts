import { SCHEMA_VERSION, schemaVersion } from "../store/migrate.ts";
import type { Sql } from "../store/sql.ts";

export interface Health {
  readonly ready: boolean;
  /** Each part by name: "ok", or what is wrong with it. */
  readonly checks: Readonly<Record<string, string>>;
}

export interface HealthService {
  check(): Promise<Health>;
}

/** Ready means: the database answers, it has our schema, and the dispatcher's lease is alive. */
export function createHealthService(deps: {
  readonly sql: Sql;
  readonly isDispatching: () => boolean;
}): HealthService {
  return {
    async check() {
      const version = await schemaVersion(deps.sql).catch(() => null);
      const checks = {
        database: version === null ? "cannot be reached" : "ok",
        migrations: version === null ? "unknown" : version === SCHEMA_VERSION ? "ok" : `version ${version}`,
        dispatcher: deps.isDispatching() ? "ok" : "holds no lease",
      };
      return { ready: Object.values(checks).every((check) => check === "ok"), checks };
    },
  };
}
