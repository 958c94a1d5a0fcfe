/**
 * Events of one task are read in the order of its changes, whatever order the transactions that made them have drawn their
 * ids in: a bulk action draws its id when it locks its row, and changes a task that was called meanwhile.
 */
export const eventOrder = `
-- The place of an event that is written now. No less than the id of any transaction that has ended, so no less than the place of
-- whatever this statement has seen or waited for; no less than the id of its own transaction, so that a reader that has
-- passed it has missed nothing before it; and no id that is yet to be drawn, so that it can be read once its transaction has
-- ended. It is a volatile function because only that takes a new snapshot: that of the statement may be older than a change
-- that the statement has waited for. See docs/decisions/0016-events.md.
create function event_place() returns xid8 language plpgsql volatile as $$
begin
  return greatest(pg_current_xact_id(),
                  (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text::xid8);
end
$$;

alter table events alter column xid set default event_place();

-- The clock when the event was written, which rises with the changes of a task; at is the instant that the change itself
-- has, which is that of its transaction's beginning.
alter table events add column written_at timestamptz;
alter table events alter column written_at set default clock_timestamp();
`;
