/**
 * A prepared statement is planned once and kept. Planned while its table was still small, or while an index was bloated,
 * it would walk the table, and keep walking it when there are a million rows (measured: 20 times slower after a
 * minute). Ours have one good plan, from index to row, whatever the statistics say: each of these leaves one bad plan
 * less to choose.
 */
const SETTINGS = {
  // Plan once, without the values: planning the claim costs more than running it.
  plan_cache_mode: "force_generic_plan",
  // None of our statements should scan a whole table.
  enable_seqscan: "off",
  // Collects every match of an index before the first row: a claim needs the first few of thousands.
  enable_bitmapscan: "off",
  // Both read one side completely; our statements look up a few rows by key, which is the remaining nested loop.
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  // Copies the inner side instead of looking the key up.
  enable_material: "off",
  // Indexes give the required order. With sorts allowed, a claim planned while few tasks were pending took another
  // index, read all tasks of the queue or the team and sorted them: 5 to 20 times slower.
  enable_sort: "off",
  enable_incremental_sort: "off",
  // Before version 18 a plan that has to use what is off here has a huge cost, and expensive plans are JIT-compiled: a
  // tenth of a second and 100 MB per connection of a default PostgreSQL, for statements that take a millisecond.
  jit: "off",
} as const;

export const PLANNER = Object.entries(SETTINGS)
  .map(([name, value]) => `set ${name} = ${value}`)
  .join("; ");
