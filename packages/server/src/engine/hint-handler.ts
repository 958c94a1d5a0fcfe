import { parseHint } from "../store/tasks/hints.ts";
import type { Budget } from "./budget.ts";
import type { Cancellations } from "./cancellations.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Recheck } from "./recheck.ts";

/** Handles the hints of other nodes and of the service. A lost hint costs time, never a task. */
export function createHintHandler(deps: {
  readonly ownId: () => number;
  readonly dispatcher: Dispatcher;
  readonly recheck: Recheck;
  readonly cancellations: Cancellations;
  readonly budget: Pick<Budget, "relearn">;
  readonly wakeAlarm: () => void;
  readonly wakeScheduler: () => void;
  readonly wakeCourier: () => void;
}): (message: string) => void {
  const { dispatcher } = deps;
  return (message) => {
    const hint = parseHint(message);
    if (hint === null || hint.from === deps.ownId()) return;
    if ("claim" in hint) deps.cancellations.hear(hint);
    else if ("taskId" in hint) deps.cancellations.takeJob(hint.teamId, hint.taskId);
    else if (hint.kind === "team") deps.budget.relearn(hint.teamId);
    else if (hint.kind === "schedule") deps.wakeScheduler();
    else if (hint.kind === "due") dispatcher.notice(hint.teamId, hint.queue);
    else if (hint.kind === "later") deps.wakeAlarm();
    else if (hint.kind === "ended") deps.wakeCourier();
    else if (!dispatcher.refresh(hint.teamId, hint.queue) && hint.kind === "queue") {
      // The queue may have been resumed with tasks that are long overdue, which no other check finds soon.
      deps.recheck.now(hint);
    }
  };
}
