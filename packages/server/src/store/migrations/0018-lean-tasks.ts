/**
 * The rules of a task's row are no constraints any more: PostgreSQL reads the text of each again in every statement that
 * writes tasks, a quarter of what a statement for one task costs. The statements keep them, and the tests run on a
 * schema that has them: see `test/task-rules.ts`.
 */
export const leanTasks = `
alter table tasks
  drop constraint tasks_shape_check,
  drop constraint tasks_status_check,
  drop constraint tasks_priority_check,
  drop constraint tasks_active_is_held,
  drop constraint tasks_ended_has_time,
  drop constraint tasks_ended_is_let_go,
  drop constraint tasks_completed_keeps_no_callback,
  drop constraint tasks_wait_has_end,
  drop constraint tasks_follow_one_way,
  drop constraint tasks_sandbox_never_runs;
`;
