import type { Command } from "commander";
import type { BellhopEvent } from "../sdk.ts";
import { printable } from "../table.ts";
import { collect, readInteger } from "./option-values.ts";
import { given, type ServerOptions, serverCommand, type User } from "./user.ts";

interface TailOptions extends ServerOptions {
  readonly queue?: string;
  readonly tag?: string;
  readonly type?: readonly string[];
  readonly count?: number;
}

/** Follows the stream of events until Ctrl-C; a broken connection is taken up again where it broke. */
export function addTailCommand(tasks: Command, user: User): void {
  serverCommand(tasks, "tail", "print what happens, as it happens, until Ctrl-C; with --json a line each")
    .option("--queue <name>", "only of this queue")
    .option("--tag <tag>", "only of tasks with this tag")
    .option("--type <type>", "only of this type, such as task.failed; several times", collect)
    .option("--count <n>", "end after so many", readInteger)
    .action(async ({ queue, tag, type, count, ...options }: TailOptions) => {
      const client = await user.client(options);
      const ended = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ended.abort());
      user.tell("Listening; Ctrl-C ends\n");
      let seen = 0;
      try {
        for await (const event of client.events(given({ queue, tag, types: type }), {
          signal: ended.signal,
        })) {
          user.print(options.json ? `${JSON.stringify(event)}\n` : describeEvent(event));
          seen += 1;
          if (seen === count) break;
        }
      } catch (error) {
        if (!ended.signal.aborted) throw error;
      }
    });
}

function describeEvent(event: BellhopEvent): string {
  if (event.type === "reset") return "Events may be missing here: what was kept of them begins later\n";
  // Of a type that this version does not know there may be neither.
  if ("task" in event) {
    const { id, queue, error } = event.task;
    return `${printable(`${event.type}  ${id}  ${queue}${error ? `  ${error}` : ""}`)}\n`;
  }
  return `${printable(`${event.type}  ${"queue" in event ? event.queue.name : ""}`)}\n`;
}
