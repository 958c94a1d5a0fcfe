import { parseHint } from "../store/tasks/hints.ts";
import type { Budget } from "./budget.ts";
import type { Cancellations } from "./cancellations.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { SecondLook } from "./second-look.ts";

/** What a node does about a hint of another node, or of the service. One that is lost costs time, never a task. */
export function createHearing(deps: {
  readonly ownId: () => number;
  readonly dispatcher: Dispatcher;
  readonly secondLook: SecondLook;
  readonly cancellations: Cancellations;
  readonly budget: Pick<Budget, "relearn">;
  readonly wakeAlarm: () => void;
  readonly wakeScheduler: () => void;
  readonly onEnded: () => void;
}): (message: string) => void {
  const { dispatcher } = deps;
  return (message) => {
    const heard = parseHint(message);
    if (heard === null || heard.from === deps.ownId()) return;
    if ("claim" in heard) deps.cancellations.hear(heard);
    else if ("taskId" in heard) deps.cancellations.takeJob(heard.teamId, heard.taskId);
    else if (heard.kind === "team") deps.budget.relearn(heard.teamId);
    else if (heard.kind === "schedule") deps.wakeScheduler();
    else if (heard.kind === "due") dispatcher.notice(heard.teamId, heard.queue);
    else if (heard.kind === "later") deps.wakeAlarm();
    else if (heard.kind === "ended") deps.onEnded();
    else if (!dispatcher.refresh(heard.teamId, heard.queue) && heard.kind === "queue") {
      // Resumed, perhaps: its tasks may be due for so long that no other look finds them soon.
      deps.secondLook.now(heard);
    }
  };
}
