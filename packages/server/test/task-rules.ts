/**
 * What holds of every row of `tasks`, whatever statement wrote it. In production no constraint asks for it, because it would
 * cost every statement: the databases of the tests have these, so that a statement that breaks one fails.
 */
export const TASK_RULES = `
alter table tasks
  add constraint tasks_shape_check check (shape in ('queue', 'direct')),
  add constraint tasks_status_check
    check (status in ('pending', 'active', 'waiting', 'polling', 'completed', 'failed', 'cancelled')),
  add constraint tasks_priority_check check (priority between 1 and 10),
  -- What is next of a task of the sandbox lies in simulations, and no worker holds it.
  add constraint tasks_active_is_held
    check ((status = 'active') = (attempt_started_at is not null)
           and case when sandbox then worker_id is null else status <> 'active' or worker_id is not null end),
  add constraint tasks_ended_has_time
    check ((status in ('completed', 'failed', 'cancelled')) = (completed_at is not null)),
  add constraint tasks_ended_is_let_go
    check (status not in ('completed', 'failed', 'cancelled')
           or worker_id is null and (poll is null or status = 'cancelled' and poll -> 'cancel' is not null)),
  add constraint tasks_completed_keeps_no_callback check (status <> 'completed' or callback_sealed is null),
  add constraint tasks_wait_has_end
    check (case when status in ('waiting', 'polling') then deadline_at is not null
                else deadline_at is null or status = 'pending' end),
  add constraint tasks_follow_one_way check (poll_config is null or not wait_for_callback),
  add constraint tasks_is_found_by_its_state
    -- A pending task with neither waits in breaker_tasks.
    check ((due_at is not distinct from case when status = 'pending' and not sandbox and flow is null then run_at end
            and (flow_due_at is not distinct from
                   case when status = 'pending' and not sandbox and flow is not null then run_at end
                 -- In the line of an ordered flow.
                 or status = 'pending' and not sandbox and flow is not null and flow_due_at = created_at)
            or status = 'pending' and not sandbox and due_at is null and flow_due_at is null)
           and poll_at is not distinct from
                 case when status = 'polling' and worker_id is null and not sandbox then run_at end
           and list_key = case when status in ('active', 'completed') and not sandbox then 'begun' else status end);
`;
