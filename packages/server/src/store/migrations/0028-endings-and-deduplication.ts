/**
 * Further endings of a task, and deduplication.
 *
 * dedupe_keys has one row per deduplication key that was used lately: its lock makes requests with the same key take
 * turns. A row without a task_id was locked for a request that was then refused. The row says what the key's last task
 * was asked for; whether it still holds the key follows from the task itself. free_at is when the janitor looks at it.
 *
 * bound_keys has the idempotency keys of requests that were answered with the task of an earlier request, and of the
 * request that created it: they are freed when the task is deleted.
 *
 * redeliveries says which deliveries repeat the message of an earlier one.
 */
export const endingsAndDeduplication = `
alter table tasks
  add column dismissed_at timestamptz,
  add column on_failure_url text,
  add column scheduled_for timestamptz,
  add column retried_with jsonb,
  add column dedupe jsonb;

create table dedupe_keys (
  team_id         integer not null,
  sandbox         boolean not null,
  key             text not null,
  task_id         uuid,
  callback_sealed bytea,
  free_at         timestamptz not null default now(),
  primary key (team_id, sandbox, key)
);
create index dedupe_keys_free on dedupe_keys (free_at);

create table bound_keys (
  team_id integer not null,
  task_id uuid not null,
  sandbox boolean not null,
  key     text not null,
  primary key (team_id, task_id, sandbox, key)
);

create table redeliveries (
  team_id     integer not null,
  delivery_id uuid not null,
  message_id  uuid not null,
  primary key (team_id, delivery_id)
);
`;
