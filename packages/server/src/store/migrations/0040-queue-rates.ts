/**
 * Queues with a rate: at most `rate` calls begin in any `rate_period` seconds. queue_permits counts the calls by the time
 * from which each counts, rounded up to a thousandth of the period.
 */
export const queueRates = `
alter table queues add column rate integer, add column rate_period integer;

create table queue_permits (
  team_id  integer not null,
  queue_id bigint not null,
  at       timestamptz not null,
  count    integer not null,
  primary key (team_id, queue_id, at),
  foreign key (team_id, queue_id) references queues (team_id, id) on delete cascade
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
`;
