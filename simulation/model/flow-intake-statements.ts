import { arrayAt, type Effects, numberAt } from "./effect.ts";
import { holdsOf } from "./flow-statements.ts";
import { newRow, PLAIN, plainAnswer, plainQueue, plainRows } from "./intake-statements.ts";
import type { Session } from "./session.ts";
import type { FlowColumns } from "./tables.ts";
import { insertTask, pendingOfFlows } from "./task-rows.ts";

const COLUMNS = [...PLAIN, "message", "flow"];
const FIRST_KEYS = 22;

interface Carried extends FlowColumns {
  readonly wanted: number;
}

/** The insert of plain tasks with flows: tasks that find a place begin at once. */
export const flowIntakeStatements: Effects = {
  insert_flow_tasks_plain(session, values) {
    const { tables } = session;
    const queue = plainQueue(session, values);
    if (queue === null || queue.ordered) return [];
    const carried = carriedBy(values);
    const isChanged = carried.some(({ key }) => tables.flows.has(key) && !isKept(session, carried, key));
    const places = new Map(carried.map((flow) => [flow.key, isChanged ? 0 : placesOf(session, flow)]));
    const ranks = arrayAt<number>(values, FIRST_KEYS - 1);
    const begunIds = plainRows(values, COLUMNS).flatMap(({ held, ...row }, index) => {
      const flow = row.flow ?? null;
      const begins = held && (flow === null || (ranks[index] ?? 0) <= (places.get(flow) ?? 0));
      const slot = begins ? { slot_queue_id: queue.id, slot_epoch: queue.epoch } : {};
      const asked = { ...row, team_id: queue.team_id, queue: queue.name, delay_seconds: 0, ...slot };
      insertTask(session, newRow(session, asked, queue, numberAt(values, 2)));
      if (!begins) return [];
      if (flow !== null)
        tables.holds.set(`${row.id} 1`, { flow, task_id: row.id, fence: 1, permit_at: null });
      return row.id;
    });
    for (const { wanted: _, ...flow } of carried) {
      const before = tables.flows.get(flow.key);
      tables.flows.set(flow.key, {
        key: flow.key,
        concurrency: flow.concurrency ?? before?.concurrency ?? null,
        rate: flow.rate ?? before?.rate ?? null,
        period: flow.rate === null ? (before?.period ?? null) : flow.period,
        ordered: flow.ordered ?? before?.ordered ?? null,
      });
    }
    return [{ ...plainAnswer(session, queue), begunIds }];
  },
};

function carriedBy(values: readonly unknown[]): Carried[] {
  const column = <Item>(at: number) => arrayAt<Item>(values, FIRST_KEYS + at);
  return column<string>(0).map((key, index) => ({
    key,
    concurrency: column<number | null>(1)[index] ?? null,
    rate: column<number | null>(2)[index] ?? null,
    period: column<number | null>(3)[index] ?? null,
    ordered: column<boolean | null>(4)[index] ?? null,
    wanted: column<number>(5)[index] ?? 0,
  }));
}

function isKept({ tables }: Session, carried: readonly Carried[], key: string): boolean {
  const before = tables.flows.get(key);
  const flow = carried.find((each) => each.key === key);
  if (before === undefined || flow === undefined) return false;
  const { concurrency, rate, period, ordered } = flow;
  return (
    (concurrency === null || concurrency === before.concurrency) &&
    (rate === null || (rate === before.rate && period === before.period)) &&
    (ordered === null || ordered === before.ordered)
  );
}

/** How many tasks of the flow may begin without a claim. */
function placesOf(session: Session, { key, wanted }: Carried): number {
  const flow = session.tables.flows.get(key);
  if (flow === undefined || flow.rate !== null || flow.ordered === true) return 0;
  if (pendingOfFlows(session).some((task) => task.flow === key)) return 0;
  if (flow.concurrency === null || session.model.plant === "no-places") return wanted;
  return Math.min(wanted, flow.concurrency - holdsOf(session, key).length);
}
