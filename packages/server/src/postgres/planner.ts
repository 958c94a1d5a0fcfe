/**
 * A prepared statement is planned once and kept. Planned while its table was still small, or while an index was bloated,
 * it would walk the table, and keep walking it when there are a million rows (measured: 20 times slower after a
 * minute). Ours have one good plan, from index to row, whatever the statistics say: each of these leaves one bad plan
 * less to choose.
 */
const SETTINGS = {
  // Plan once, without a look at the values: planning the claim costs more than running it.
  plan_cache_mode: "force_generic_plan",
  // No statement of ours is meant to read a table from end to end.
  enable_seqscan: "off",
  // Collects every match of an index before the first row: a claim wants the first few of thousands.
  enable_bitmapscan: "off",
  // Both read all of one side; ours look up a few rows by their key, which is the nested loop that is left.
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  // Copies the inner side, to read it again instead of looking the key up.
  enable_material: "off",
  // Indexes give the order in which rows are wanted. With sorts to choose from, a claim planned while few tasks were
  // pending took another index, read all tasks of the queue or the team and sorted them: 5 to 20 times slower.
  enable_sort: "off",
  enable_incremental_sort: "off",
  // Before version 18 a plan that has to do what is off here counts as endlessly dear, and dear plans are compiled first: a
  // tenth of a second and 100 MB for each connection of a storageQuota PostgreSQL, for statements that take a millisecond.
  jit: "off",
} as const;

export const PLANNER = Object.entries(SETTINGS)
  .map(([name, value]) => `set ${name} = ${value}`)
  .join("; ");
