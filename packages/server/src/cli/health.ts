import { isIPv6 } from "node:net";
import type { Command } from "commander";
import { probe } from "./user/probe.ts";

/** For the health check of a container, which has no other program to ask with. */
export function addHealthCommand(program: Command): void {
  program
    .command("health")
    .description("ask the server that runs here with the same settings if it is alive; exits 1 if not")
    .option("--ready", "if it can take and execute tasks, its database included")
    .action(async ({ ready }: { ready?: true }) => {
      const { readConfig } = await import("../config.ts");
      const { host, port } = readConfig(process.env);
      const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
      const url = `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`;
      const answer = await probe(url, ready ? "readyz" : "livez");
      if (answer.status === 200) process.stdout.write("ok\n");
      else
        throw new Error(
          `${url} ${answer.status === null ? `cannot be reached: ${answer.why}` : `answers ${answer.status}`}`,
        );
    });
}
