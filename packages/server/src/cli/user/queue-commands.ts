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
  const queues = program.command("queues").description("the lines that tasks wait in");

  serverCommand(queues, "list", "list them, with how many tasks are in which state").action(
    async (options: ServerOptions) => {
      const found = await (await user.client(options)).queues.list();
      showRows(user, options, found, { columns: COLUMNS, none: "No queues" });
    },
  );

  serverCommand(queues, "create", "make one")
    .argument("<name>", "letters, digits and hyphens")
    .option("--concurrency <n>", "calls at the same time, over all nodes", readInteger)
    .option("--max-retries <n>", "further attempts of a task that fails", readInteger)
    .option("--timeout <seconds>", "how long a call may take", readInteger)
    .addOption(new Option("--backoff <kind>", "waits between attempts").choices(["fixed", "exponential"]))
    .action(
      async (name: string, { backoff, concurrency, maxRetries, timeout, ...options }: CreateOptions) => {
        const settings = given({ concurrency, maxRetries, timeout, retryBackoff: backoff });
        const made = await (await user.client(options)).queues.create({ name, ...settings });
        show(user, options, made, () => `Created ${name}\n`);
      },
    );

  serverCommand(queues, "pause", "begin no more of its tasks; calls under way finish")
    .argument("<name>")
    .action(async (name: string, options: ServerOptions) => {
      show(user, options, await (await user.client(options)).queues.pause(name), () => `${name} is paused\n`);
    });

  serverCommand(queues, "resume", "go on with a paused one")
    .argument("<name>")
    .action(async (name: string, options: ServerOptions) => {
      show(user, options, await (await user.client(options)).queues.resume(name), () => `${name} goes on\n`);
    });

  serverCommand(queues, "delete", "remove one that is empty of unfinished tasks")
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
