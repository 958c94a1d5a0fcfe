/**
 * Tasks can be cancelled, retried by hand, expire before they begin, and say more about their retries. No index is added:
 * `deadline_at` has one, which holds nothing but the rows that have such a time. In the rows of tasks that use none of
 * this the new columns are null, but for a counter of four bytes.
 */
export const cancelAndRetry = `
alter table queue_tallies add column cancelled bigint not null default 0;

alter table queues
  add column retry_max_delay_seconds integer not null default 3600 check (retry_max_delay_seconds between 1 and 86400),
  add column no_retry_statuses smallint[];

-- retries counts how often a task was begun anew by hand. expires_in_seconds is how long its first attempt may be
-- waited for; until then deadline_at says when that is over. A failed or cancelled task keeps the id of its callback,
-- hash and seal: after a retry it is valid again, and the call must be able to name it.
alter table tasks
  add column retries integer not null default 0,
  add column expires_in_seconds integer,
  add column retry_max_delay_seconds integer,
  add column no_retry_statuses smallint[],
  drop constraint tasks_status_check,
  drop constraint tasks_ended_has_time,
  drop constraint tasks_ended_is_let_go,
  drop constraint tasks_wait_has_end,
  drop constraint tasks_sandbox_never_runs,
  add constraint tasks_status_check
    check (status in ('pending', 'active', 'waiting', 'polling', 'completed', 'failed', 'cancelled')),
  add constraint tasks_ended_has_time
    check ((status in ('completed', 'failed', 'cancelled')) = (completed_at is not null)),
  add constraint tasks_ended_is_let_go
    check (status not in ('completed', 'failed', 'cancelled') or num_nonnulls(worker_id, poll) = 0),
  add constraint tasks_completed_keeps_no_callback check (status <> 'completed' or callback_sealed is null),
  add constraint tasks_wait_has_end
    check (case when status in ('waiting', 'polling') then deadline_at is not null
                else deadline_at is null or status = 'pending' end),
  add constraint tasks_sandbox_never_runs check (not sandbox or status in ('pending', 'cancelled'));
`;
