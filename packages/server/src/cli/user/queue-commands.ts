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
  readonly ordered?: boolean;
  readonly onFailure?: "continue" | "block";
  readonly rate?: number | false;
  readonly ratePeriod?: number;
  readonly breaker?: boolean;
}

export function addQueueCommands(program: Command, user: User): void {
  const queues = program.command("queues").description("create, list and manage queues");

  serverCommand(queues, "list", "list queues with their number of tasks per state").action(
    async (options: ServerOptions) => {
      const found = await (await user.client(options)).queues.list();
      showRows(user, options, found, { columns: COLUMNS, none: "No queues" });
    },
  );

  addSettings(
    serverCommand(queues, "create", "create a queue").argument("<name>", "letters, digits and hyphens"),
  )
    .option("--ordered", "start its tasks one at a time, in the order of creation")
    .action(async (name: string, options: CreateOptions) => {
      const { settings, server } = readSettings(options);
      const made = await (await user.client(server)).queues.create({ name, ...settings });
      show(user, server, made, () => `Created ${name}\n`);
    });

  addSettings(serverCommand(queues, "update", "change the settings of a queue").argument("<name>"))
    .option("--ordered", "start its tasks one at a time, in the order of creation")
    .option("--no-ordered", "start them by priority again")
    .option("--no-rate", "have no rate any more")
    .option("--no-breaker", "have no circuit breaker any more")
    .action(async (name: string, options: CreateOptions) => {
      const { settings, server } = readSettings(options);
      const changed = await (await user.client(server)).queues.update(name, settings);
      show(user, server, changed, () => `Changed ${name}\n`);
    });

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

function addSettings(command: Command): Command {
  return command
    .option("--concurrency <n>", "concurrent calls, over all nodes", readInteger)
    .option("--rate <n>", "calls that may begin in a period, over all nodes", readInteger)
    .option("--rate-period <seconds>", "the period of the rate, a second unless it is said", readInteger)
    .option("--max-retries <n>", "retries of a failed task", readInteger)
    .option("--timeout <seconds>", "timeout of a call", readInteger)
    .option("--breaker", "stop calling a host while it fails, with the default figures")
    .addOption(new Option("--backoff <kind>", "waits between attempts").choices(["fixed", "exponential"]))
    .addOption(
      new Option("--on-failure <what>", "of an ordered queue: go on after a failed task, or stop").choices([
        "continue",
        "block",
      ]),
    );
}

function readSettings({
  backoff,
  concurrency,
  maxRetries,
  timeout,
  ordered,
  onFailure,
  rate,
  ratePeriod,
  breaker,
  ...server
}: CreateOptions) {
  const settings = given({
    concurrency,
    maxRetries,
    timeout,
    retryBackoff: backoff,
    ordered,
    onFailure,
    rate,
    ratePeriod,
    breaker,
  });
  return { settings, server };
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
  {
    title: "STATE",
    of: ({ paused, ordered }) => `${paused ? "paused" : "open"}${ordered ? ", ordered" : ""}`,
  },
];
