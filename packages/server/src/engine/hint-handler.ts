import { NO_QUEUE, parseHint, type QueueHint } from "../store/tasks/hints.ts";
import type { Actors } from "./actors.ts";
import type { Admission } from "./admission.ts";
import type { Budget } from "./budget.ts";
import type { Cancellations } from "./cancellations.ts";

/** Handles the hints of other nodes and of the service. A lost hint costs time, never a task. */
export function createHintHandler(deps: {
  readonly ownId: () => number;
  readonly admission: Pick<Admission, "dispatcher" | "flows" | "recheck" | "wakeAlarms">;
  readonly cancellations: Cancellations;
  readonly budget: Pick<Budget, "relearn">;
  readonly wake: Actors["wake"];
  readonly notificationDue: () => void;
}): (message: string) => void {
  const { dispatcher, flows, recheck, wakeAlarms } = deps.admission;
  return (message) => {
    const hint = parseHint(message);
    if (hint === null || hint.from === deps.ownId()) return;
    if ("claim" in hint) deps.cancellations.hear(hint);
    else if ("taskId" in hint) deps.cancellations.takeJob(hint.teamId, hint.taskId);
    else if (hint.kind === "flow")
      flows.refresh(hint.teamId, hint.flow, hint.queue === NO_QUEUE ? undefined : hint.queue, hint.turn);
    else if (hint.kind === "team") deps.budget.relearn(hint.teamId);
    else if (hint.kind === "schedule") deps.wake("scheduler");
    else if (hint.kind === "due") dispatcher.notice(hint.teamId, hint.queue);
    else if (hint.kind === "later") wakeAlarms();
    else if (hint.kind === "ended") deps.notificationDue();
    else {
      // It may have become ordered, or its breaker has changed.
      if (hint.kind === "queue") deps.wake("ordered-queues", "breakers");
      lookAt(hint);
    }
  };

  function lookAt(hint: QueueHint): void {
    if (!dispatcher.refresh(hint.teamId, hint.queue) && hint.kind === "queue") {
      // The queue may have been resumed with tasks that are long overdue, which no other check finds soon.
      recheck.now(hint);
    }
  }
}
