import assert from "node:assert/strict";
import type { Claim } from "../../../src/domain/claim.ts";
import type { OnFailure } from "../../../src/domain/queue.ts";
import type { NewTask } from "../../../src/domain/task.ts";
import { claimFlowTasks } from "../../../src/store/tasks/flow-claims.ts";
import { openFlowLines } from "../../../src/store/tasks/flow-lines.ts";
import { claimOrderedTask } from "../../../src/store/tasks/ordered-claims.ts";
import { resetLine } from "../../../src/store/tasks/ordered-lines.ts";
import { updateQueue } from "../../../src/store/tasks/queues.ts";
import { flowOf } from "../../test-flow.ts";
import type { TextSql } from "../../test-sql.ts";
import { claimRequest, type StoredQueue, type TestStore } from "../../test-store.ts";

/** One line of tasks that start in strict order, as the cases of lines.test.ts use it. */
export interface TestLine {
  readonly teamId: number;
  insert(...tasks: readonly Partial<NewTask>[]): Promise<string[]>;
  /** Claims as a worker does. A line gives at most one task. */
  claim(workerId?: number): Promise<Claim | undefined>;
  /** Claims without order, while the line is not ordered. */
  claimUnordered(limit: number): Promise<readonly Claim[]>;
  setOrdered(ordered: boolean): Promise<void>;
  setOnFailure(onFailure: OnFailure): Promise<void>;
  makeDue(id: string): Promise<void>;
  /** Gives a task another id in the records of the line. The caller changes the task. */
  rename(id: string, newId: string): Promise<void>;
}

export interface LineAdapter {
  readonly name: string;
  open(store: TestStore, workerId: number, ordered?: boolean): Promise<TestLine>;
}

let lines = 0;

const orderedQueue: LineAdapter = {
  name: "an ordered queue",
  async open(store, workerId, ordered = true) {
    const queue = await store.openQueue(ordered ? { ordered, concurrency: 1 } : {});
    const { database } = store;
    return {
      teamId: queue.teamId,
      insert: (...tasks) => store.insert(queue, ...tasks),
      async claim(by = workerId) {
        const request = await claimRequest(database, queue, { workerId: by, limit: 1 });
        const { claims, isCurrent } = await claimOrderedTask(database, request, () => 0);
        assert.equal(isCurrent, true);
        return oneOf(claims);
      },
      claimUnordered: (limit) => store.claim(queue, { workerId, limit }),
      async setOrdered(isOrdered) {
        const settings = isOrdered ? { ordered: true, concurrency: 1 } : { ordered: false };
        await updateQueue(database, queue.teamId, queue.name, settings);
        await resetLine(database, { ...queue, ordered: isOrdered });
      },
      async setOnFailure(onFailure) {
        await updateQueue(database, queue.teamId, queue.name, { onFailure });
      },
      makeDue: (id) => makeDue(database, id, "due_at"),
      async rename(id, newId) {
        await database.rows("update line_tasks set task_id = $2 where task_id = $1", [id, newId]);
      },
    };
  },
};

const orderedFlow: LineAdapter = {
  name: "an ordered flow over two queues",
  async open(store, workerId, ordered = true) {
    lines += 1;
    const key = `line-${lines}`;
    const queues = [await store.openQueue(), await store.openQueue()] as const;
    const { teamId } = queues[0];
    const { database } = store;
    let inserted = 0;
    let isOrdered = ordered;

    async function ask(by: number, limit: number) {
      const request = { teamId, workerId: by, queues: await offered(database, queues), limit };
      const lanes = queues.map(({ id }) => ({ flow: key, queueId: id }));
      return claimFlowTasks(database, { ...request, lanes, isOrdered }, 0);
    }

    return {
      teamId,
      async insert(...tasks) {
        const ids: string[] = [];
        for (const task of tasks) {
          inserted += 1;
          const queue = queues[inserted % 2 === 0 ? 1 : 0];
          ids.push(...(await store.insert(queue, { ...flowOf(key, { ordered: isOrdered }), ...task })));
        }
        return ids;
      },
      async claim(by = workerId) {
        let claimed = await ask(by, 200);
        if (claimed.flows[0]?.kind === "unopened") {
          await openFlowLines(database, teamId, [key]);
          claimed = await ask(by, 200);
        }
        return oneOf(claimed.claims);
      },
      claimUnordered: async (limit) => (await ask(workerId, limit)).claims,
      async setOrdered(to) {
        isOrdered = to;
        await database.rows(
          "update flows set ordered = $2, line_at = case when $2 then line_at end where key = $1",
          [key, to],
        );
        if (to) await openFlowLines(database, teamId, [key]);
      },
      async setOnFailure(onFailure) {
        await database.rows(
          "update flows set ordered = true, is_stored = true, on_failure = $2 where key = $1",
          [key, onFailure],
        );
      },
      makeDue: (id) => makeDue(database, id, "flow_due_at"),
      async rename(id, newId) {
        await database.rows("update flow_line_tasks set task_id = $2 where task_id = $1", [id, newId]);
      },
    };
  },
};

export const LINE_ADAPTERS: readonly LineAdapter[] = [orderedQueue, orderedFlow];

/** Free slots in each queue, by its row. */
export async function offered(sql: TextSql, queues: readonly StoredQueue[], free = 10) {
  const rows = await sql.rows<{ id: number; epoch: number }>(
    "select id::float8 as id, epoch from queues where id = any($1)",
    [queues.map(({ id }) => id)],
  );
  const epochs = new Map(rows.map(({ id, epoch }) => [id, epoch]));
  return queues.map(({ id, name }) => ({ queueId: id, queue: name, epoch: epochs.get(id) ?? 0, free }));
}

/** The task is due from now on, whenever it was meant to be. */
async function makeDue(sql: TextSql, id: string, column: "due_at" | "flow_due_at"): Promise<void> {
  await sql.rows(`update tasks set run_at = now(), ${column} = now() where id = $1`, [id]);
}

function oneOf(claims: readonly Claim[]): Claim | undefined {
  assert.ok(claims.length <= 1);
  return claims[0];
}
