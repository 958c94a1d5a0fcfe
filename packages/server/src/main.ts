#!/usr/bin/env node
import { type Logger, pino } from "pino";
import { type House, openHouse } from "./compose.ts";
import { ConfigError, readConfig } from "./config.ts";
import { VERSION } from "./version.ts";

/** Longer than the longest grace: a stop that hangs all the same must not hang for ever. */
const STUCK_MS = 3_700_000;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  // Logs go to stderr in small batches; stdout is for people and for whoever waits for the ready line.
  const destination = pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 100 });
  const log = pino(
    { level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
  for (const name of config.withoutEffect) log.warn({ setting: name }, "setting.without_effect");

  const house = await openHouse(config, log);
  process.stdout.write(banner(house));
  trapSignals(house, log, () => destination.flushSync());
}

/**
 * The first signal stops: calls under way may finish. The second does not wait for them. A bug that nobody caught
 * leaves the process in a state nobody knows: stop, and say so with the exit code.
 */
function trapSignals(house: House, log: Logger, flush: () => void): void {
  let stopping: Promise<void> | null = null;

  function stop(exitCode: number): void {
    if (stopping !== null) {
      house.hurry();
      return;
    }
    process.exitCode = exitCode;
    const timer = setTimeout(() => process.exit(1), STUCK_MS);
    stopping = house
      .stop()
      .catch((err) => {
        log.error({ err }, "stop.failed");
        process.exitCode = 1;
      })
      .finally(() => {
        clearTimeout(timer);
        log.info({}, "bellhop.stopped");
        flush();
      });
  }

  process.on("SIGTERM", () => stop(0));
  process.on("SIGINT", () => stop(0));
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (err: unknown) => {
      log.fatal({ err }, event);
      flush();
      stop(1);
    });
  }
}

function banner({ url, database, dataDir, firstKey }: House): string {
  const lines = [
    `Bellhop ${VERSION}`,
    `  address   ${url}  (reference at ${url}/docs)`,
    `  database  ${database}`,
    ...(dataDir === null ? [] : [`  data      ${dataDir}`]),
    "  egress    any: calls may go to every address, private ones too",
    ...(firstKey === null ? [] : ["", `  Your API key, shown this once: ${firstKey}`, ""]),
    `Bellhop is ready at ${url}`,
  ];
  return `${lines.join("\n")}\n`;
}

main().catch((error: unknown) => {
  const expected = error instanceof ConfigError;
  process.stderr.write(
    expected ? `${error.message}\n` : `Bellhop could not start: ${describeError(error)}\n`,
  );
  process.exitCode = 1;
});

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
