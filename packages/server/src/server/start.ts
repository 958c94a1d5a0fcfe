import cluster from "node:cluster";
import { setFlagsFromString } from "node:v8";
import type { Logger } from "pino";
import { type Config, readConfig } from "../config.ts";
import { findOtherData } from "../postgres/data-dir.ts";
import { processesFor, readMachine } from "../processes/count.ts";
import { joinParent, type Member } from "../processes/member.ts";
import { SETTINGS } from "../settings.ts";
import { renderBanner } from "./banner.ts";
import { createLog } from "./log.ts";
import { onNpmShellGone } from "./npm-shell.ts";
import { warnOfLowFileLimit } from "./open-files.ts";
import { openMember, openProcessGroup, openServer, type Running } from "./open-server.ts";
import { optimiseUnderLoad } from "./optimise-under-load.ts";
import { explainStartFailure } from "./start-failure.ts";

/** A hanging stop must end: the process exits within 5 s after its grace period. */
const STUCK_MS = 4_500;
/** One of several processes reports this before its parent kills it. */
const STUCK_MEMBER_MS = 4_000;

/**
 * Ctrl-C reaches every process of the terminal's group, and npm passes it to its child as well: signals within this
 * time of the first count as one.
 */
const SAME_SIGNAL_MS = 1000;

/**
 * V8 would allocate objects that survived a burst in the old generation from then on. Almost all objects of a task are
 * garbage a moment later, and one allocated old keeps everything it references alive until the next full collection.
 */
setFlagsFromString("--no-allocation-site-pretenuring");

const isTerminal = process.stderr.isTTY === true;
let config: Config | null = null;

async function start(): Promise<void> {
  config = readConfig(process.env);
  const machine = readMachine();
  const processes = config.processes ?? processesFor(machine, config.databaseUrl === null);
  const { log, flush, drained } = createLog(config.logLevel, isTerminal, processes === 1 ? null : "parent");
  for (const name of config.withoutEffect) log.warn({ setting: name }, "setting.without_effect");
  warnOfLowFileLimit(log);

  const opening = processes === 1 ? openServer(config, log) : openProcessGroup(config, processes, log);
  trapSignals(opening, config, log, flush);
  const server = await opening;
  optimiseUnderLoad();
  const otherData =
    server.isNewData && server.dataDir !== null
      ? await findOtherData(server.dataDir, SETTINGS.dataDir.fallback)
      : [];
  // A write that is under way would otherwise reach a shared terminal or file after the banner.
  await drained();
  process.stdout.write(renderBanner(server, otherData, config, processesFor(machine, true)));
}

/** One process of a server; its parent prints the messages. */
async function startMember(member: Member): Promise<void> {
  config = readConfig(process.env);
  const { log, flush } = createLog(config.logLevel, isTerminal, String(member.number));
  const opening = openMember(config, member, log);
  trapSignals(opening, config, log, flush);
  await opening;
  optimiseUnderLoad();
}

/** The first signal stops and lets calls finish. The second aborts them. */
function trapSignals(opening: Promise<Running>, config: Config, log: Logger, flush: () => void): void {
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
    stuck ??= setTimeout(
      giveUp,
      config.stopGraceSeconds * 1000 + (cluster.isWorker ? STUCK_MEMBER_MS : STUCK_MS),
    );
    // A signal during the start waits for its end: a half-started server cannot be closed properly.
    const server = await opening.catch(() => null);
    if (server === null) {
      stuck.unref();
      return;
    }
    if (stopping) {
      server.hurry();
      return;
    }
    stopping = true;
    process.exitCode = exitCode;
    announce(server.callsUnderWay());
    await server.stop().catch((err) => {
      log.error({ err }, "stop.failed");
      process.exitCode = 1;
    });
    // Unref'd instead of cleared: if something still holds the process, it ends in time.
    stuck.unref();
    log.info({}, "bellhop.stopped");
    flush();
  }

  function announce(calls: number): void {
    const { stopGraceSeconds } = config;
    if (!isTerminal || cluster.isWorker)
      log.info({ calls, graceSeconds: stopGraceSeconds }, "bellhop.stopping");
    else if (calls === 0) process.stderr.write("Stopping\n");
    else {
      const underWay = calls === 1 ? "1 call" : `${calls} calls`;
      process.stderr.write(
        `Stopping: ${underWay} under way, up to ${stopGraceSeconds} s; again to stop now\n`,
      );
    }
  }

  process.on("SIGTERM", onSignal);
  // Of several processes only the parent handles Ctrl-C, which reaches all of them.
  process.on("SIGINT", cluster.isWorker ? () => {} : onSignal);
  if (!cluster.isWorker)
    void onNpmShellGone(() => {
      log.warn({}, "npm.shell_gone");
      onSignal();
    });
  void opening.then(
    async ({ hopeless }) => {
      const err = await hopeless;
      if (err === undefined) return;
      log.fatal({ err }, "processes.cannot_start");
      stop(1);
    },
    () => {},
  );
  // After an uncaught error the state of the process is unknown: stop, with a failing exit code.
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (err: unknown) => {
      log.fatal({ err }, event);
      flush();
      stop(1);
    });
  }
}

if (cluster.isWorker) {
  const member = await joinParent();
  startMember(member).catch((error: unknown) => {
    process.exitCode = 1;
    member.failed(explainStartFailure(error, config));
    member.leave();
    // If something still holds the process, exit for the next try.
    setTimeout(() => process.exit(), STUCK_MS).unref();
  });
} else {
  start().catch((error: unknown) => {
    process.stderr.write(`${explainStartFailure(error, config)}\n`);
    process.exitCode = 1;
  });
}
