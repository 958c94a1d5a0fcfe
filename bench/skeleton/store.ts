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
  /** Takes the oldest pending tasks; only where they are inserted as such. */
  claimTasks(limit: number): Promise<NewTask[]>;
  settleTasks(tasks: SettledTask[]): Promise<void>;
  stop(): Promise<void>;
}

const statusNumbers = { pending: 0, active: 1 };

/**
 * The least that still keeps every task on disk: one table, its primary key, one insert and one update, and where tasks
 * are claimed one index and one more update. Each has its own connection, so that a group of inserts never waits behind a
 * group of settlements.
 */
export async function createSkeletonStore(
  connection: ClientConfig,
  firstStatus: keyof typeof statusNumbers,
): Promise<SkeletonStore> {
  // A plan made while the table was small would scan it from end to end, and stays cached long after it has grown.
  const planned = {
    ...connection,
    options:
      "-c enable_seqscan=off -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c enable_sort=off",
  };
  const inserting = new Client(connection);
  const claiming = new Client(planned);
  const settling = new Client(planned);
  await Promise.all([inserting.connect(), claiming.connect(), settling.connect()]);
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
  if (firstStatus === "pending") {
    await inserting.query("create index skeleton_pending on skeleton_tasks (id) where status = 0");
  }

  return {
    async insertTasks(tasks) {
      await inserting.query({
        name: "insert",
        text: `insert into skeleton_tasks (id, status, url, payload)
               select id, ${statusNumbers[firstStatus]}, url, payload from jsonb_to_recordset($1::jsonb) as t(id uuid, url text, payload jsonb)`,
        values: [JSON.stringify(tasks)],
      });
    },
    async claimTasks(limit) {
      const { rows } = await claiming.query<NewTask>({
        name: "claim",
        text: `update skeleton_tasks t
                  set status = 1
                 from (select id from skeleton_tasks where status = 0 order by id limit $1
                          for update skip locked) c
                where t.id = c.id
            returning t.id, t.url, t.payload`,
        values: [limit],
      });
      return rows;
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
      await Promise.all([inserting.end(), claiming.end(), settling.end()]);
    },
  };
}
