/**
 * Bounds of a team's own, and indexes by which polls and notifications are found team by team: of what is due, one team's
 * pile must not stand before another's first.
 */
export const limits = `
-- By name, what was set for this team otherwise than its plan says; null in it is no limit.
alter table teams add column limits jsonb;

drop index tasks_polls_due;
create index tasks_polls_due on tasks (team_id, run_at) where status = 'polling' and worker_id is null;
drop index notifications_due;
create index notifications_due on notifications (team_id, next_at) where status = 'pending' and worker_id is null;
`;
