/**
 * What every statement that can end a task does for those that ended: writes their notification, and lets go of the
 * idempotency key of one that failed, so that its caller can try again. In the same commit, so that neither can be lost.
 * `from` must yield team_id, id, status, on_complete_url and idempotency_key.
 */
export function endings(from: string): string {
  return `notified as (
     insert into notifications (team_id, id, task_id, url)
     select team_id, gen_random_uuid(), id, on_complete_url from ${from}
      where status in ('completed', 'failed') and on_complete_url is not null
   ), let_go as (
     delete from idempotency_keys k using ${from} e
      where e.status = 'failed' and e.idempotency_key is not null
        and k.team_id = e.team_id and k.key = e.idempotency_key and k.task_id = e.id
   )`;
}

/** What `endings` needs of a task, for a returning clause. */
export const ENDING_COLUMNS = "t.on_complete_url, t.idempotency_key";
