/**
 * Nearly all of autovacuum's CPU went into `analyze tasks`: it sampled 30,000 rows and sorted each of their 50 columns. The plans
 * of our statements need the columns of the indexes alone, and a rough picture of those. A table is sampled as its most demanding
 * column asks, so every column needs a target: a later migration that adds a column sets one too.
 */
export const taskStatistics = `
do $$
declare
  part record;
begin
  for part in
    select a.attname,
           exists (select 1 from pg_index i where i.indrelid = a.attrelid and a.attnum = any (i.indkey::smallint[])) as is_indexed
      from pg_attribute a
     where a.attrelid = 'tasks'::regclass and a.attnum > 0 and not a.attisdropped
  loop
    execute format('alter table tasks alter column %I set statistics %s', part.attname, case when part.is_indexed then 25 else 0 end);
  end loop;
end $$;
`;
