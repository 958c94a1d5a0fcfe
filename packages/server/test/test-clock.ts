import type { TestDatabase } from "./test-database.ts";
import type { TextDatabase } from "./test-sql.ts";

/** Time that is frozen until the test moves it, for the nodes and for `clock_timestamp()` of the database alike. */
export interface TestClock {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  advance(ms: number): Promise<void>;
  /** Connections that see this time. */
  open(max: number): TextDatabase;
}

const START_MS = Date.parse("2026-03-01T09:30:00.250Z");

/** PostgreSQL looks for a function in the schemas of the search path, in order: there another one can stand first. */
export async function createTestClock(test: TestDatabase): Promise<TestClock> {
  let passedMs = 0;
  const { database } = test;
  const set = () =>
    database.rows("update test_clock.present set at = to_timestamp($1::float8 / 1000)", [
      START_MS + passedMs,
    ]);
  await database.rows(
    `create schema test_clock;
     create table test_clock.present (at timestamptz);
     insert into test_clock.present values (null);
     create function test_clock.clock_timestamp() returns timestamptz language sql volatile
       as 'select at from test_clock.present';
     alter database ${test.connection.database} set search_path = test_clock, pg_catalog, public`,
  );
  await set();
  return {
    nowMs: () => START_MS + passedMs,
    monotonicMs: () => passedMs,
    async advance(ms) {
      passedMs += ms;
      await set();
    },
    open: test.openAnew,
  };
}
