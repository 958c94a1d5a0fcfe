import { Client, type ClientConfig } from "pg";

export interface NewTask {
  id: string;
  url: string;
  payload: unknown;
}

export interface SettledTask {
  id: string;
  code: number;
}

export interface SkeletonStore {
  insertTasks(tasks: NewTask[]): Promise<void>;
  settleTasks(tasks: SettledTask[]): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The least that still keeps every task on disk: one table, its primary key, one insert and one update. Each has its
 * own connection, so that a group of inserts never waits behind a group of settlements.
 */
export async function createSkeletonStore(connection: ClientConfig): Promise<SkeletonStore> {
  const inserting = new Client(connection);
  // A plan made while the table was small would scan it from end to end, and stays cached long after it has grown.
  const settling = new Client({
    ...connection,
    options: "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off",
  });
  await Promise.all([inserting.connect(), settling.connect()]);
  await inserting.query(
    `create table if not exists skeleton_tasks (
       id uuid primary key,
       status smallint not null,
       url text not null,
       payload jsonb not null,
       created_at timestamptz not null default now(),
       completed_at timestamptz,
       response_code smallint
     )`,
  );

  return {
    async insertTasks(tasks) {
      await inserting.query({
        name: "insert",
        text: `insert into skeleton_tasks (id, status, url, payload)
               select id, 1, url, payload from jsonb_to_recordset($1::jsonb) as t(id uuid, url text, payload jsonb)`,
        values: [JSON.stringify(tasks)],
      });
    },
    async settleTasks(tasks) {
      await settling.query({
        name: "settle",
        text: `update skeleton_tasks t
                  set status = 2, completed_at = now(), response_code = s.code
                 from jsonb_to_recordset($1::jsonb) as s(id uuid, code smallint)
                where t.id = s.id`,
        values: [JSON.stringify(tasks)],
      });
    },
    async stop() {
      await Promise.all([inserting.end(), settling.end()]);
    },
  };
}
