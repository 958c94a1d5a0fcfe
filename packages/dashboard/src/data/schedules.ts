import { useAct } from "./act.ts";
import { bellhop } from "./client.ts";

/** Runs, pauses and resumes the schedule of this name. */
export function useScheduleActions(name: string) {
  const run = useAct(
    () => bellhop.schedules.run(name),
    () => `${name} has created a task`,
  );
  const resume = useAct(
    () => bellhop.schedules.resume(name),
    () => `Resumed ${name}`,
  );
  const pause = useAct(
    () => bellhop.schedules.pause(name),
    () => ({ text: `Paused ${name}`, undo: () => resume.mutate(undefined) }),
  );
  return { run, pause, resume };
}
