import type { Logger } from "pino";
import { renderBanner } from "./banner.ts";
import { type House, openHouse } from "./compose.ts";
import { type Config, readConfig } from "./config.ts";
import { createLog } from "./log.ts";
import { findOtherData } from "./postgres/data-dir.ts";
import { SETTINGS } from "./settings.ts";
import { explainStartFailure } from "./start-failure.ts";

/** A stop that hangs all the same must not hang for ever: the process is promised to be gone 5 s after its grace. */
const STUCK_MS = 4_500;

/**
 * Ctrl-C reaches every process of the terminal's group, and npm passes it on to its child as well: what comes within
 * this time of the first signal is the same one.
 */
const SAME_SIGNAL_MS = 1000;

const isTerminal = process.stderr.isTTY === true;
let config: Config | null = null;

async function start(): Promise<void> {
  config = readConfig(process.env);
  const { log, flush } = createLog(config.logLevel, isTerminal);
  for (const name of config.withoutEffect) log.warn({ setting: name }, "setting.without_effect");

  const opening = openHouse(config, log);
  trapSignals(opening, config, log, flush);
  const house = await opening;
  const otherData =
    house.isNewData && house.dataDir !== null
      ? await findOtherData(house.dataDir, SETTINGS.dataDir.fallback)
      : [];
  flush();
  process.stdout.write(renderBanner(house, otherData, config));
}

/** The first signal stops: calls under way may finish. The second does not wait for them. */
function trapSignals(opening: Promise<House>, config: Config, log: Logger, flush: () => void): void {
  let signalledAt: number | null = null;
  let stopping = false;
  let stuck: NodeJS.Timeout | undefined;

  function onSignal(): void {
    const now = performance.now();
    if (signalledAt !== null && now - signalledAt < SAME_SIGNAL_MS) return;
    signalledAt ??= now;
    stop(0);
  }

  function giveUp(): void {
    log.error({ held: process.getActiveResourcesInfo() }, "stop.stuck");
    flush();
    process.exit(1);
  }

  async function stop(exitCode: number): Promise<void> {
    stuck ??= setTimeout(giveUp, config.stopGraceSeconds * 1000 + STUCK_MS);
    // A signal during the start waits for its end: half a house cannot be closed in order.
    const house = await opening.catch(() => null);
    if (house === null) {
      stuck.unref();
      return;
    }
    if (stopping) {
      house.hurry();
      return;
    }
    stopping = true;
    process.exitCode = exitCode;
    announce(house.callsUnderWay());
    await house.stop().catch((err) => {
      log.error({ err }, "stop.failed");
      process.exitCode = 1;
    });
    // Not ended: should anything still hold the process, it is let go in time.
    stuck.unref();
    log.info({}, "bellhop.stopped");
    flush();
  }

  function announce(calls: number): void {
    const { stopGraceSeconds } = config;
    if (!isTerminal) log.info({ calls, graceSeconds: stopGraceSeconds }, "bellhop.stopping");
    else if (calls === 0) process.stderr.write("Stopping\n");
    else {
      const underWay = calls === 1 ? "1 call" : `${calls} calls`;
      process.stderr.write(
        `Stopping: ${underWay} under way, up to ${stopGraceSeconds} s; again to stop now\n`,
      );
    }
  }

  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  // After a bug that no code caught the state of the process is unknown: stop, and say so with the exit code.
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (err: unknown) => {
      log.fatal({ err }, event);
      flush();
      stop(1);
    });
  }
}

start().catch((error: unknown) => {
  process.stderr.write(`${explainStartFailure(error, config)}\n`);
  process.exitCode = 1;
});
