import { fitPage } from "../../api/schemas/page.ts";
import type { Page } from "../../domain/page.ts";
import { formatId } from "../../domain/public-id.ts";
import { publicTaskId } from "../../domain/task-id.ts";
import { inTurns } from "../../service/turns.ts";
import { type ListedSchedule, ownTime, type Schedule } from "./domain.ts";
import { nextTimes } from "./domain-cron.ts";
import type { ScheduleSummary } from "./schemas.ts";

const SHOWN_RUNS = 5;

/** To work out the next times of a rare schedule takes about a millisecond: the pages of all teams share turns. */
export async function summaryPage(page: Page<ListedSchedule>, turns = inTurns) {
  const items = await turns(page.items[0]?.teamId ?? 0, page.items, scheduleSummaryView);
  return fitPage({ ...page, items }, (view) => view);
}

function scheduleSummaryView(schedule: ListedSchedule): ScheduleSummary {
  const { cron, timezone, nextRunAt, lastTask, lastError } = schedule;
  const later =
    nextRunAt === null ? [] : nextTimes(cron, timezone, ownTime(schedule, nextRunAt), SHOWN_RUNS - 1);
  return {
    id: formatId("sch", schedule.id),
    name: schedule.name,
    cron,
    timezone,
    overlap: schedule.overlap,
    catch_up: schedule.catchUp,
    paused: schedule.paused,
    next_runs:
      nextRunAt === null ? [] : [ownTime(schedule, nextRunAt), ...later].map((at) => at.toISOString()),
    last_task: lastTask && {
      id: publicTaskId(lastTask),
      status: lastTask.status,
      created_at: lastTask.createdAt.toISOString(),
    },
    last_error: lastError && { at: lastError.at.toISOString(), error: lastError.error },
    created_at: schedule.createdAt.toISOString(),
    updated_at: schedule.updatedAt.toISOString(),
  };
}

/** As text: its task is shown character by character as it was written, as it will be sent. */
export function scheduleText(schedule: Schedule): string {
  const head = JSON.stringify(scheduleSummaryView(schedule)).slice(0, -1);
  return `{"schedule":${head},"task":${schedule.task.text}}}`;
}
