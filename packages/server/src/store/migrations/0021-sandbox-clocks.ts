/**
 * The clock of a team's sandbox. The times in the records of its tasks are by that clock; when a step or a firing is due is
 * kept by the real one, so that one index finds what is due for all teams.
 */
export const sandboxClocks = `
-- By how much time was let pass. A team without a row has let none pass.
create table sandbox_clocks (
  team_id       integer primary key,
  ahead_seconds bigint not null
);

insert into sandbox_clocks (team_id, ahead_seconds)
select team_id, max(ahead_seconds) from schedules where sandbox and ahead_seconds > 0 group by team_id;

-- Null: the task is not simulated, and next_at is when it expires.
alter table simulations alter column said drop not null;
`;
