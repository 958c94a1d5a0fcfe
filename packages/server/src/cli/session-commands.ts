import type { Command } from "commander";
import { ConfigError, readConfig } from "../config.ts";
import { rotateOperatorsSessionKey } from "../service/operator/operator-keys.ts";
import type { Operator } from "./operator.ts";

export function addSessionCommands(program: Command, operator: Operator): void {
  program
    .command("session")
    .description("sessions of people who signed in")
    .command("rotate-key")
    .description("make a new key to sign session and access tokens with; nobody is signed out")
    .action(async () => {
      if (readConfig(process.env).sessionKeys.length > 0)
        throw new ConfigError(
          "BELLHOP_SESSION_KEY is set: put the new key in front of it, separated by a comma, and restart the server",
        );
      const id = await operator.work((database) => rotateOperatorsSessionKey(database, operator.userName));
      operator.print(`The key ${id} signs from now on, on every node within a minute\n`);
      operator.print(
        "Older keys are accepted for 25 hours more, until the last of their tokens has expired\n",
      );
    });
}
