/** Which nodes there are, for the operator to look at. */
export const nodes = `
-- One row per running process, of whatever role. It says nothing about what a process may do: that is the row in workers.
-- A process that stops removes its row; one that died is remembered for an hour.
create table nodes (
  id              bigint generated always as identity primary key,
  name            text not null,
  role            text not null check (role in ('all', 'api', 'worker')),
  version         text not null,
  started_at      timestamptz not null,
  seen_at         timestamptz not null,
  worker_id       bigint,
  calls_in_flight integer not null,
  max_in_flight   integer not null,
  clock_offset_ms float8 not null
);
`;
