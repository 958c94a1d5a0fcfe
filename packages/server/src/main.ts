#!/usr/bin/env node
import { type Logger, pino } from "pino";
import { type House, openHouse } from "./compose.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { errorFields } from "./error-fields.ts";
import { describeEgress } from "./outbound/egress-policy.ts";
import { VERSION } from "./version.ts";

/** Longer than the longest grace: a stop that hangs all the same must not hang for ever. */
const STUCK_MS = 3_700_000;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  // Logs go to stderr in small batches; stdout is for people and for whoever waits for the ready line.
  const destination = pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 100 });
  const log = pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFields },
    },
    destination,
  );
  for (const name of config.withoutEffect) log.warn({ setting: name }, "setting.without_effect");

  const opening = openHouse(config, log);
  trapSignals(opening, log, () => destination.flushSync());
  const house = await opening;
  process.stdout.write(banner(house, config));
}

/**
 * The first signal stops: calls under way may finish. The second does not wait for them. A bug that nobody caught
 * leaves the process in a state nobody knows: stop, and say so with the exit code.
 */
function trapSignals(opening: Promise<House>, log: Logger, flush: () => void): void {
  let stopping = false;

  async function stop(exitCode: number): Promise<void> {
    // A signal during the start waits for its end: half a house cannot be closed in order.
    const house = await opening.catch(() => null);
    if (house === null) return;
    if (stopping) {
      house.hurry();
      return;
    }
    stopping = true;
    process.exitCode = exitCode;
    const timer = setTimeout(() => process.exit(1), STUCK_MS);
    await house.stop().catch((err) => {
      log.error({ err }, "stop.failed");
      process.exitCode = 1;
    });
    clearTimeout(timer);
    log.info({}, "bellhop.stopped");
    flush();
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

function banner({ url, database, dataDir, firstKey }: House, config: Config): string {
  const lines = [
    `Bellhop ${VERSION}`,
    `  address   ${url}  (reference at ${url}/docs)`,
    `  database  ${database}`,
    ...(dataDir === null ? [] : [`  data      ${dataDir}`]),
    `  egress    ${describeEgress(config.egress)}`,
    ...keyLines(firstKey, config),
    `Bellhop is ready at ${url}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** The key is shown once; whoever lost it makes another. */
function keyLines(firstKey: string | null, { apiKey }: Config): string[] {
  if (firstKey !== null) return ["", `  Your API key, shown this once: ${firstKey}`, ""];
  return apiKey === null
    ? [
        '  API key   the one that the first start showed; npm run bellhop -- key create Operator "name" makes another',
      ]
    : [];
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
