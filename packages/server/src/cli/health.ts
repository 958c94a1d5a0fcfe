import { isIPv6 } from "node:net";
import type { Command } from "commander";
import { probe } from "./user/probe.ts";

/** For the health check of a container, which has no other HTTP client. */
export function addHealthCommand(program: Command): void {
  program
    .command("health")
    .description("check that the server with the same settings is alive; exits 1 if not")
    .option("--ready", "check that it can accept and execute tasks, its database included")
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
