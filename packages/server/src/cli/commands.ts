import { Command, type CommanderError, InvalidArgumentError } from "commander";
import { closestName } from "../domain/spelling.ts";
import { VERSION } from "../version.ts";
import { addBackupCommands } from "./backup-commands.ts";
import { addCompletionCommand } from "./completion.ts";
import type { DevOptions } from "./dev.ts";
import { ECHO_PATHS, startEcho } from "./echo.ts";
import { addHealthCommand } from "./health.ts";
import { addKeyCommands } from "./key-commands.ts";
import { addMcpCommand } from "./mcp/mcp-command.ts";
import { createOperator } from "./operator.ts";
import { addSessionCommands, addVaultCommands } from "./secret-commands.ts";
import { addTeamCommands } from "./team-commands.ts";
import { addAlertCommands } from "./user/alert-commands.ts";
import { addBreakerCommands } from "./user/breaker-commands.ts";
import { addDoctorCommand } from "./user/doctor.ts";
import { describeFailure } from "./user/failure.ts";
import { addFlowCommands } from "./user/flow-commands.ts";
import { addImportCommands } from "./user/import-commands.ts";
import { addListenCommand } from "./user/listen.ts";
import { addLoginCommands } from "./user/login-commands.ts";
import { addQueueCommands } from "./user/queue-commands.ts";
import { addScheduleCommands } from "./user/schedule-commands.ts";
import { addKeysCommands, addVaultAdd } from "./user/secret-commands.ts";
import { addTaskCommands } from "./user/task-commands.ts";
import { addUrlGroupCommands } from "./user/url-group-commands.ts";
import { createUser } from "./user/user.ts";

const RUN_BY_NPM = process.env.npm_lifecycle_event === "bellhop";

const program = new Command("bellhop")
  .description("Makes HTTP calls for you, later and reliably.")
  .version(VERSION)
  .showHelpAfterError(
    RUN_BY_NPM
      ? "(npm passes options on only after two dashes: npm run bellhop -- team --help)"
      : "(add --help for usage)",
  )
  // Exit code 2 for a usage error, 1 for a command that failed.
  .exitOverride(({ exitCode }: CommanderError) => process.exit(exitCode === 0 ? 0 : 2));

program.commandsGroup("Run a server:");
program
  .command("start", { isDefault: true })
  .description("run the server; settings are environment variables, see docs/settings.md")
  // Commander passes an unknown command to this one, because it is the default.
  .allowExcessArguments()
  .action(async (_options, { args }: Command) => {
    if (args[0] === undefined) await import("../main.ts");
    else refuseUnknown(args[0]);
  });

program
  .command("echo")
  .description("run a small test target that prints the requests it receives")
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
  .command("dev")
  .description("run a server for development with a test target and sample tasks, until Ctrl-C")
  .option("--data-dir <dir>", "keep the data in this directory; without it, the data is removed at the end")
  .option("--port <port>", "port of the server", readPort, 8787)
  .option("--echo-port <port>", "port of the target", readPort, 9000)
  .option("--json", "print JSON")
  .action(async (options: DevOptions) => {
    const { runDev } = await import("./dev.ts");
    process.exitCode = await runDev(options, (text) => process.stdout.write(text));
  });

addHealthCommand(program);
addCompletionCommand(program);

program.commandsGroup("Use a server through its API, with a key (see bellhop login):");
const user = createUser();
addLoginCommands(program, user);
addDoctorCommand(program, user);
addTaskCommands(program, user);
addQueueCommands(program, user);
addFlowCommands(program, user);
addUrlGroupCommands(program, user);
addBreakerCommands(program, user);
addScheduleCommands(program, user);
addImportCommands(program, user);
addAlertCommands(program, user);
addKeysCommands(program, user);
addListenCommand(program, user);
addMcpCommand(program, user);

program.commandsGroup("Operate a server, on its machine with its settings, directly on its database:");
const operator = createOperator();
addVaultCommands(program, operator);
addTeamCommands(program, operator);
addKeyCommands(program, operator);
addSessionCommands(program, operator);
addBackupCommands(program, operator);
addVaultAdd(program, user);

function refuseUnknown(name: string): void {
  const meant = closestName(
    name,
    program.commands.map((command) => command.name()),
  );
  program.error(`error: unknown command '${name}'${meant === undefined ? "" : `; did you mean '${meant}'?`}`);
}

/** npm consumes options before two dashes, so the command would run without them. */
function refuseSwallowed(): void {
  if (!RUN_BY_NPM) return;
  const names = ["per-minute", "owner", "role", "test", "json", "queue", "payload", "profile"];
  const taken = names.find((name) => process.env[`npm_config_${name.replace("-", "_")}`] !== undefined);
  if (taken === undefined) return;
  program.error(`error: npm has taken --${taken} for itself`);
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError("It must be a port number.");
  return port;
}

refuseSwallowed();
program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}
`);
  process.exitCode = 1;
});
