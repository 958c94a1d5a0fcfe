import type { Command } from "commander";
import type { BellhopEvent } from "../sdk.ts";
import { printable } from "../table.ts";
import { collect, readInteger } from "./option-values.ts";
import { given, type ServerOptions, serverCommand, show, type User } from "./user.ts";

interface TailOptions extends ServerOptions {
  readonly queue?: string;
  readonly tag?: string;
  readonly type?: readonly string[];
  readonly count?: number;
}

/** Follows the event stream until Ctrl-C. After a broken connection it resumes at the last event. */
export function addTailCommand(tasks: Command, user: User): void {
  serverCommand(tasks, "tail", "print events as they happen, until Ctrl-C; with --json one line each")
    .option("--queue <name>", "only events of this queue")
    .option("--tag <tag>", "only events of tasks with this tag")
    .option("--type <type>", "only events of this type, such as task.failed; may be repeated", collect)
    .option("--count <n>", "stop after this many events", readInteger)
    .action(async ({ queue, tag, type, count, ...options }: TailOptions) => {
      const client = await user.client(options);
      const ended = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ended.abort());
      user.tell("Waiting for events; Ctrl-C stops\n");
      let seen = 0;
      try {
        for await (const event of client.events(given({ queue, tag, types: type }), {
          signal: ended.signal,
        })) {
          if (options.pick === undefined)
            user.print(options.json ? `${JSON.stringify(event)}\n` : describeEvent(event));
          else show(user, options, event, describeEvent);
          seen += 1;
          if (seen === count) break;
        }
      } catch (error) {
        if (!ended.signal.aborted) throw error;
      }
    });
}

function describeEvent(event: BellhopEvent): string {
  if (event.type === "reset") return "Events may be missing here: older ones are no longer stored\n";
  // An event of a newer type may have neither a task nor a queue.
  if ("task" in event) {
    const { id, queue, error } = event.task;
    return `${printable(`${event.type}  ${id}  ${queue}${error ? `  ${error}` : ""}`)}\n`;
  }
  return `${printable(`${event.type}  ${"queue" in event ? event.queue.name : ""}`)}\n`;
}
