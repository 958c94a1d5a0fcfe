/**
 * Due schedules are found team by team, and a firing to a URL group is stored in portions: schedules.fan_out has the
 * endpoints that the firing under way has not reached yet. It counts only while the firing of next_run_at is recorded. The
 * index schedules_due is for nodes of the version before.
 */
export const schedulePortions = `
alter table schedules add column fan_out jsonb;
create index schedules_due_by_team on schedules (team_id, next_run_at) where next_run_at is not null;
`;
