#!/usr/bin/env node
import { Command, InvalidArgumentError } from "commander";
import { VERSION } from "../version.ts";
import { ECHO_PATHS, startEcho } from "./echo.ts";
import { rotateVault } from "./vault-rotate.ts";

const program = new Command("bellhop")
  .description("Makes HTTP calls for you, later and reliably.")
  .version(VERSION)
  .showHelpAfterError();

program
  .command("start", { isDefault: true })
  .description("run the server; settings are environment variables, see docs/settings.md")
  .action(async () => {
    await import("../main.ts");
  });

program
  .command("echo")
  .description("run a small target to try things against; it prints what it receives")
  .option("--host <host>", "address to listen on", "127.0.0.1")
  .option("--port <port>", "port to listen on", readPort, 9000)
  .addHelpText("after", `\nPaths:\n${ECHO_PATHS}\n`)
  .action(async ({ host, port }: { host: string; port: number }) => {
    const echo = await startEcho({ host, port, print: (text) => process.stdout.write(text) });
    process.stdout.write(`Echo is ready at ${echo.url}\n`);
    process.on("SIGINT", () => echo.stop());
    process.on("SIGTERM", () => echo.stop());
  });

program
  .command("vault")
  .description("the vault of stored credentials")
  .command("rotate")
  .description("seal every stored credential with the first of BELLHOP_VAULT_KEYS")
  .action(async () => {
    const { resealed, unreadable } = await rotateVault(process.env);
    process.stdout.write(`${resealed} tokens sealed anew, ${unreadable} cannot be read with these keys\n`);
    if (unreadable > 0) process.exitCode = 1;
  });

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError("It must be a port number.");
  return port;
}

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
