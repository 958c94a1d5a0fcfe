import { isAnswered } from "../calls.ts";
import type { History, Seen } from "../history.ts";
import type { Violation } from "../violation.ts";
import { isOpenAt } from "./frozen.ts";
import { groupBy, type OutsideTask } from "./tasks.ts";

/** The nodes that died or were frozen with it took all its chances: the one failure that is no target's. */
const LOST = "worker_lost";

/** What was accepted has ended, as its target answered; nothing was called twice without a cause; and every slot is free again. */
export function checkFates(history: History, tasks: readonly OutsideTask[]): Violation[] {
  const { fates } = history.rest;
  if (fates === undefined) return [];
  const told = new Map(fates.map((fate) => [fate.taskId, fate]));
  return [
    ...tasks.flatMap((task): Violation[] => {
      const fate = told.get(task.id);
      if (task.storedAt === Number.POSITIVE_INFINITY) return [];
      const text = wrongEnd(fate?.status ?? null, fate?.failureReason ?? null, task);
      return text === null ? [] : [{ promise: text[0], text: text[1], taskId: task.id, at: history.rest.at }];
    }),
    ...tasks.flatMap((task) => checkCalls(task, history)),
    ...checkWave(tasks, history),
  ];
}

function wrongEnd(
  status: string | null,
  reason: string | null,
  { calls }: OutsideTask,
): [promise: "A" | "B" | "rest", text: string] | null {
  if (status === null) return ["A", "was answered 201, and the API does not know it"];
  if (status !== "completed" && status !== "failed") return ["rest", `is ${status} at the end`];
  const wasGood = calls.some(isAnswered);
  if (status === "completed")
    return wasGood ? null : ["B", "is completed, and no target answered it with a 2xx"];
  return reason === LOST ? null : ["B", `has failed (${reason}), and its target answers in the end`];
}

/** Each attempt once and in order, none while another is under way, and none after a good answer but for a fault. */
function checkCalls({ id, calls }: OutsideTask, history: History): Violation[] {
  return calls.flatMap((call, index): Violation[] => {
    const text = calls
      .slice(0, index)
      .map((earlier) => wrongCall(earlier, call, history))
      .find((each) => each !== null);
    return text == null ? [] : [{ promise: "twice", text, taskId: id, at: call.begunAt }];
  });
}

/** What a fault left behind is given back within a lease and a round of the reaper. */
const RECOVERY_MS = 20_000;

function wrongCall(earlier: Seen, call: Seen, history: History): string | null {
  if ((earlier.attempt ?? 0) >= (call.attempt ?? 0))
    return `attempt ${call.attempt} was called after attempt ${earlier.attempt}`;
  if (isOpenAt(earlier, call.begunAt, history))
    return `attempt ${call.attempt} was called while attempt ${earlier.attempt} was in flight`;
  const hadFault = history.faults.some(
    ({ from, to }) => from <= call.begunAt && to >= earlier.begunAt - RECOVERY_MS,
  );
  if (!isAnswered(earlier) || hadFault) return null;
  return `attempt ${earlier.attempt} was answered ${earlier.status} and called again, without any fault`;
}

/** The calls of each group of the last wave were once all under way together. */
function checkWave(tasks: readonly OutsideTask[], history: History): Violation[] {
  return [...groupBy(tasks, ({ wish }) => wish.wave?.group ?? null)].flatMap(
    ([group, members]): Violation[] => {
      const calls = members.flatMap((task) => task.calls);
      const together = calls.map(
        ({ begunAt }) => calls.filter((call) => isOpenAt(call, begunAt, history)).length,
      );
      const most = Math.max(0, ...together);
      const wanted = members[0]?.wish.wave?.of ?? 0;
      if (most >= wanted) return [];
      const text = `${most} calls of ${group} were under way at once in the last wave, of ${wanted} that may: a place leaked`;
      return [{ promise: "slots", text, taskId: null, at: calls[0]?.begunAt ?? history.rest.at }];
    },
  );
}
