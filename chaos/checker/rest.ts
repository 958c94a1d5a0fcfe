import type { History } from "./history.ts";
import { isEnd, type NotificationRow, type TaskRow, type TaskStatus } from "./rows.ts";
import type { Violation } from "./violation.ts";

const STATUSES: readonly TaskStatus[] = [
  "pending",
  "active",
  "waiting",
  "polling",
  "completed",
  "failed",
  "cancelled",
];

/** At rest, with every fault healed and every queue running, nothing is left to do and nothing is left behind. */
export function checkRest({ rest }: History): Violation[] {
  const stuck = rest.tasks
    .filter(({ status }) => !isEnd(status))
    .map(
      (task): Violation => ({ promise: "rest", text: describe(task, rest.at), taskId: task.id, at: rest.at }),
    );
  const untold = rest.notifications
    .filter((notification) => notification.status === "pending" && !waitsItsTurn(notification, rest.at))
    .map(
      ({ taskId, attempts }): Violation => ({
        promise: "rest",
        text: `its notification is still pending after ${attempts} tries`,
        taskId,
        at: rest.at,
      }),
    );
  return [...stuck, ...untold];
}

/** After its second try a notification waits for a minute, then for longer: more than a run has. */
export function waitsItsTurn({ attempts, nextAt }: NotificationRow, at: number): boolean {
  return attempts >= 2 && nextAt > at;
}

function describe({ status, workerId, runAt }: TaskRow, at: number): string {
  const holder = workerId === null ? "held by no worker" : `held by worker ${workerId}`;
  return `still ${status} at rest, ${holder}, due ${((at - runAt) / 1000).toFixed(1)} s ago`;
}

/** What the API counts is what there is. */
export function checkStats({ rest }: History): Violation[] {
  return rest.stats.flatMap(({ queueId, name, counts }) =>
    STATUSES.flatMap((status): Violation[] => {
      const there = rest.tasks.filter((task) => task.queueId === queueId && task.status === status).length;
      if (there === counts[status]) return [];
      const text = `queue ${name} counts ${counts[status]} ${status}, and has ${there}`;
      return [{ promise: "stats", text, taskId: null, at: rest.at }];
    }),
  );
}
