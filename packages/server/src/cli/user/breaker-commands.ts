import type { Command } from "commander";
import type { Bellhop } from "../sdk.ts";
import type { Column } from "../table.ts";
import { given, type ServerOptions, serverCommand, show, showRows, timeOf, type User } from "./user.ts";

type Breaker = Awaited<ReturnType<Bellhop["breakers"]["list"]>>[number];

export function addBreakerCommands(program: Command, user: User): void {
  const breakers = program.command("breakers").description("open circuit breakers of queues");

  serverCommand(breakers, "list", "list the hosts whose tasks wait").action(
    async (options: ServerOptions) => {
      const found = await (await user.client(options)).breakers.list();
      showRows(user, options, found, { columns: COLUMNS, none: "No breaker is open" });
    },
  );

  serverCommand(breakers, "close", "close the breakers of a host: its tasks start again")
    .argument("<host>", "as in the URL, with its port if it has one")
    .option("--queue <name>", "only in this queue; otherwise in all")
    .action(async (host: string, { queue, ...options }: ServerOptions & { readonly queue?: string }) => {
      const closed = await (await user.client(options)).breakers.close(host, given({ queue }));
      show(user, options, closed, () => `Closed ${host} in ${closed.closed.join(", ")}\n`);
    });
}

const COLUMNS: readonly Column<Breaker>[] = [
  { title: "QUEUE", of: ({ queue }) => queue },
  { title: "HOST", of: ({ host }) => host },
  { title: "STATE", of: ({ state }) => state },
  { title: "FAILURES", of: ({ failures }) => String(failures), align: "right" },
  { title: "OPENED", of: ({ openedAt }) => timeOf(openedAt) },
  { title: "UNTIL", of: ({ until }) => timeOf(until) },
];
