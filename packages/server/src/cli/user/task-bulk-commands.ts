import { Argument, type Command, Option } from "commander";
import type { Bulk, BulkAction, NewDirectTask, NewTask } from "../sdk.ts";
import { type Column, printable } from "../table.ts";
import { collect, readInteger, readTasksFile } from "./option-values.ts";
import { given, type ServerOptions, serverCommand, show, showRows, timeOf, type User } from "./user.ts";

/** As many as one request may have. */
const BATCH = 1000;

interface BatchOptions extends ServerOptions {
  readonly atomic?: true;
}

interface BulkOptions extends ServerOptions {
  readonly status?: string;
  readonly queue?: string;
  readonly tag?: string[];
  readonly host?: string;
  readonly responseCode?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly rate?: number;
  readonly all?: true;
  readonly dryRun?: true;
}

const BULK_COLUMNS: readonly Column<Bulk>[] = [
  { title: "ACTION", of: ({ action }) => action },
  { title: "STATUS", of: ({ status }) => status },
  { title: "DONE", of: ({ done }) => String(done) },
  { title: "SKIPPED", of: ({ skipped }) => String(skipped) },
  { title: "MATCHED", of: ({ matched }) => String(matched) },
  { title: "CREATED", of: ({ createdAt }) => timeOf(createdAt) },
  { title: "ID", of: ({ id }) => id },
];

/** What is about many tasks at once. */
export function addTaskBulkCommands(tasks: Command, user: User): void {
  serverCommand(tasks, "batch", "hand over many calls; prints the tasks' ids, exits 1 if one was refused")
    .argument("<file>", "a JSON array of tasks, or a task a line; - is what is piped in")
    .option("--atomic", "store all of them or none; at most 1000")
    .action(async (file: string, { atomic, ...options }: BatchOptions, command: Command) => {
      // What a file says is checked by the server, which says what is wrong with it.
      const given = (await readTasksFile(file)) as (NewTask | NewDirectTask)[];
      if (atomic && given.length > BATCH) return command.error("error: --atomic takes at most 1000 tasks");
      const client = await user.client(options);
      const results: Awaited<ReturnType<typeof client.tasks.createMany>>["results"] = [];
      for (let at = 0; at < given.length; at += BATCH) {
        const answer = await client.tasks.createMany(given.slice(at, at + BATCH), { atomic });
        results.push(...answer.results.map((result) => ({ ...result, index: result.index + at })));
      }
      show(user, options, results, () =>
        results.flatMap(({ task }) => (task === undefined ? [] : [`${task.id}\n`])).join(""),
      );
      const refused = results.filter(({ error }) => error !== undefined);
      for (const { index, error, code } of refused)
        process.stderr.write(`Task ${index + 1}: ${printable(error ?? "")} (${code})\n`);
      if (refused.length > 0) process.exitCode = 1;
    });

  serverCommand(tasks, "bulk", "one action on every task that matches; prints the id of the bulk action")
    .addArgument(new Argument("<action>").choices(["retry", "cancel", "delete", "dismiss"]))
    .option("--status <states>", "only in these states, separated by commas")
    .option("--queue <name>", "only of this queue")
    .option("--tag <tag>", "only with this tag; may be repeated", collect)
    .option("--host <host>", "only calls to this host")
    .option("--response-code <code>", "only those answered so at last: 503, 5xx, timeout or network")
    .option("--created-after <time>", "such as 2030-01-01T09:00:00Z")
    .option("--created-before <time>", "such as 2030-01-01T09:00:00Z")
    .option("--rate <n>", "tasks a second at most", readInteger)
    .addOption(new Option("--all", "every task of the team, without a filter"))
    .option("--dry-run", "only print how many tasks match")
    .action(async (action: BulkAction["action"], options: BulkOptions, command: Command) => {
      const { status, queue, tag, host, responseCode, createdAfter, createdBefore, rate, all, dryRun } =
        options;
      const filter = given({ status, queue, tag, host, responseCode, createdAfter, createdBefore });
      if ((Object.keys(filter).length === 0) !== (all === true))
        return command.error("error: name a filter, such as --queue, or --all");
      const wanted = {
        action,
        filter: filter as BulkAction["filter"],
        ...given({ rate, confirm: all && ("all" as const) }),
      };
      const { bulk } = (await user.client(options)).tasks;
      if (dryRun)
        return show(user, options, { matched: await bulk.count(wanted) }, ({ matched }) => `${matched}\n`);
      show(user, options, await bulk.start(wanted), ({ id }) => `${id}\n`);
    });

  serverCommand(tasks, "bulks", "list bulk actions, newest first")
    .option("--limit <n>", "maximum number of actions", readInteger, 20)
    .action(async ({ limit, ...options }: ServerOptions & { limit: number }) => {
      const { bulk } = (await user.client(options)).tasks;
      const found: Bulk[] = [];
      if (limit > 0) for await (const each of bulk.list()) if (found.push(each) >= limit) break;
      showRows(user, options, found, { columns: BULK_COLUMNS, none: "No bulk actions" });
    });

  serverCommand(tasks, "bulk-status", "show how far a bulk action has come")
    .argument("<bulk_id>")
    .option("--stop", "stop it")
    .action(async (id: string, { stop, ...options }: ServerOptions & { stop?: true }) => {
      const { bulk } = (await user.client(options)).tasks;
      show(
        user,
        options,
        await (stop ? bulk.stop(id) : bulk.get(id)),
        ({ status, done, skipped, matched }) =>
          `${id} is ${status}: ${done} done and ${skipped} skipped of ${matched}\n`,
      );
    });

  serverCommand(tasks, "delete", "remove a pending task")
    .argument("<task_id>")
    .action(async (id: string, options: ServerOptions) => {
      show(user, options, await (await user.client(options)).tasks.delete(id), () => `Deleted ${id}\n`);
    });
}
