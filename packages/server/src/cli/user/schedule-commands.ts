import type { Command } from "commander";
import type { Bellhop } from "../sdk.ts";
import type { Column } from "../table.ts";
import { type ServerOptions, serverCommand, show, showRows, timeOf, type User } from "./user.ts";

type Schedule = Awaited<ReturnType<Bellhop["schedules"]["list"]>>[number];

export function addScheduleCommands(program: Command, user: User): void {
  const schedules = program.command("schedules").description("recurring tasks, by cron");

  serverCommand(schedules, "list", "list schedules with their next time").action(
    async (options: ServerOptions) => {
      const found = await (await user.client(options)).schedules.list();
      showRows(user, options, found, { columns: COLUMNS, none: "No schedules" });
    },
  );

  serverCommand(schedules, "run", "create a task of a schedule now; prints its id")
    .argument("<schedule>", "id or name")
    .action(async (schedule: string, options: ServerOptions) => {
      const made = await (await user.client(options)).schedules.run(schedule);
      show(user, options, made, (answer) => `${"task" in answer ? answer.task.id : answer.id}\n`);
    });

  serverCommand(schedules, "pause", "pause a schedule: it fires only manually")
    .argument("<schedule>", "id or name")
    .action(async (schedule: string, options: ServerOptions) => {
      const paused = await (await user.client(options)).schedules.pause(schedule);
      show(user, options, paused, ({ name }) => `${name} is paused\n`);
    });

  serverCommand(schedules, "resume", "resume a schedule")
    .argument("<schedule>", "id or name")
    .action(async (schedule: string, options: ServerOptions) => {
      const resumed = await (await user.client(options)).schedules.resume(schedule);
      show(user, options, resumed, ({ name, nextRuns }) => `${name} fires at ${timeOf(nextRuns[0])}\n`);
    });
}

const COLUMNS: readonly Column<Schedule>[] = [
  { title: "NAME", of: ({ name }) => name },
  { title: "CRON", of: ({ cron }) => cron },
  { title: "TIME ZONE", of: ({ timezone }) => timezone },
  { title: "NEXT", of: ({ paused, nextRuns }) => (paused ? "paused" : timeOf(nextRuns[0])) },
  { title: "LAST TASK", of: ({ lastTask }) => lastTask?.status ?? "none" },
  { title: "ID", of: ({ id }) => id },
];
