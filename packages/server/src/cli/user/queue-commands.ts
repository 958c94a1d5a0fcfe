import { type Command, Option } from "commander";
import type { Bellhop } from "../sdk.ts";
import type { Column } from "../table.ts";
import { readInteger } from "./option-values.ts";
import { given, type ServerOptions, serverCommand, show, showRows, type User } from "./user.ts";

type Queue = Awaited<ReturnType<Bellhop["queues"]["list"]>>[number];

interface CreateOptions extends ServerOptions {
  readonly concurrency?: number;
  readonly maxRetries?: number;
  readonly timeout?: number;
  readonly backoff?: "fixed" | "exponential";
}

export function addQueueCommands(program: Command, user: User): void {
  const queues = program.command("queues").description("create, list and manage queues");

  serverCommand(queues, "list", "list queues with their number of tasks per state").action(
    async (options: ServerOptions) => {
      const found = await (await user.client(options)).queues.list();
      showRows(user, options, found, { columns: COLUMNS, none: "No queues" });
    },
  );

  serverCommand(queues, "create", "create a queue")
    .argument("<name>", "letters, digits and hyphens")
    .option("--concurrency <n>", "concurrent calls, over all nodes", readInteger)
    .option("--max-retries <n>", "retries of a failed task", readInteger)
    .option("--timeout <seconds>", "timeout of a call", readInteger)
    .addOption(new Option("--backoff <kind>", "waits between attempts").choices(["fixed", "exponential"]))
    .action(
      async (name: string, { backoff, concurrency, maxRetries, timeout, ...options }: CreateOptions) => {
        const settings = given({ concurrency, maxRetries, timeout, retryBackoff: backoff });
        const made = await (await user.client(options)).queues.create({ name, ...settings });
        show(user, options, made, () => `Created ${name}\n`);
      },
    );

  serverCommand(queues, "pause", "start no more of its tasks; running calls finish")
    .argument("<name>")
    .action(async (name: string, options: ServerOptions) => {
      show(user, options, await (await user.client(options)).queues.pause(name), () => `${name} is paused\n`);
    });

  serverCommand(queues, "resume", "resume a paused queue")
    .argument("<name>")
    .action(async (name: string, options: ServerOptions) => {
      show(
        user,
        options,
        await (await user.client(options)).queues.resume(name),
        () => `${name} is resumed\n`,
      );
    });

  serverCommand(queues, "delete", "delete a queue with its pending tasks")
    .argument("<name>")
    .action(async (name: string, options: ServerOptions) => {
      show(user, options, await (await user.client(options)).queues.delete(name), () => `Deleted ${name}\n`);
    });
}

const count = (title: string, of: (queue: Queue) => number): Column<Queue> => ({
  title,
  of: (queue) => String(of(queue)),
  align: "right",
});

const COLUMNS: readonly Column<Queue>[] = [
  { title: "NAME", of: ({ name }) => name },
  count("CONCURRENCY", ({ concurrency }) => concurrency),
  count("PENDING", ({ stats }) => stats.pending),
  count("ACTIVE", ({ stats }) => stats.active),
  count("COMPLETED", ({ stats }) => stats.completed),
  count("FAILED", ({ stats }) => stats.failed),
  { title: "STATE", of: ({ paused }) => (paused ? "paused" : "open") },
];
