/**
 * Bulk actions that dismiss tasks. Their status is 'dismissing' while they run: a node of an earlier version would take
 * the action for a retry, and it looks only at actions that are 'running'.
 */
export const dismissingBulks = `
alter table bulks
  drop constraint bulks_action_check,
  drop constraint bulks_status_check,
  drop constraint bulks_ended_has_time;
drop index bulks_due;
create index bulks_due on bulks (next_at) where ended_at is null;
`;
