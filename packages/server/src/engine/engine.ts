import type { Claim } from "../domain/claim.ts";
import type { NewTask } from "../domain/task.ts";
import type { Caller } from "../outbound/caller.ts";
import { type Hint, parseHint, sendHint } from "../store/hints.ts";
import type { Database } from "../store/sql.ts";
import type { Accepted } from "../store/task-intake.ts";
import type { Returned } from "../store/task-returns.ts";
import { type Alarm, createAlarm } from "./alarm.ts";
import { type Attempts, createAttempts } from "./attempts.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";
import { createIntake } from "./intake.ts";
import { createJanitor, type Janitor } from "./janitor.ts";
import { createLanes, type Lane } from "./lanes.ts";
import { createLease, type Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";
import { createReaper, type Reaper } from "./reaper.ts";
import { createSettler } from "./settler.ts";
import { createSlotKeeper } from "./slot-keeper.ts";

const RECONCILE_MS = 5_000;

/** One connection for each thing that must not wait for another. */
export interface EngineDatabases {
  readonly lease: Database;
  readonly intake: Database;
  readonly settle: Database;
  readonly claim: Database;
  readonly chores: Database;
}

export interface Engine {
  readonly lease: Lease;
  readonly dispatcher: Dispatcher;
  readonly attempts: Attempts;
  readonly alarm: Alarm;
  readonly reaper: Reaper;
  readonly janitor: Janitor;
  submit(task: NewTask): Promise<Accepted | null>;
  /** A message of another node, or of the service, on the channel. */
  hear(message: string): void;
  /** Hints may have been missed: look at everything again. */
  lookEverywhere(): void;
  start(): Promise<void>;
  /** Stops claiming, lets calls finish for so long, gives the rest back. */
  stop(graceMs: number): Promise<void>;
  /** Cuts a stop's grace short. */
  hurry(): void;
}

export function createEngine(deps: {
  readonly databases: EngineDatabases;
  readonly caller: Pick<Caller, "call">;
  readonly log: Log;
  readonly name: string;
  readonly capacity: number;
  readonly retentionDays: number;
  readonly ownHeaders: (claim: Claim) => Record<string, string>;
  readonly monotonicMs: () => number;
  readonly random: () => number;
}): Engine {
  const { databases, log, monotonicMs } = deps;
  const loops: Loop[] = [];
  let alarmLoop: Loop | null = null;
  let endGrace: () => void = () => {};
  const hurried = new Promise<void>((resolve) => {
    endGrace = resolve;
  });

  const lanes = createLanes(deps.capacity);
  const lease = createLease({
    sql: databases.lease,
    name: deps.name,
    monotonicMs,
    log,
    onLost: () => attempts.abandon(),
    onHeld: () => dispatcher.forget(),
  });
  const settler = createSettler({ sql: databases.settle, nodeId: () => lease.workerId, log });
  const attempts = createAttempts({
    sql: databases.settle,
    caller: deps.caller,
    settler,
    lease,
    log,
    random: deps.random,
    ownHeaders: deps.ownHeaders,
    onPending: (_claim, runAt) => waitFor(runAt),
    onReturned,
  });
  const dispatcher = createDispatcher({
    database: databases.claim,
    lanes,
    lease,
    log,
    monotonicMs,
    start,
    hint,
  });
  const intake = createIntake({ sql: databases.intake, lease, dispatcher, start, onPending: onAccepted });
  const alarm = createAlarm({ sql: databases.chores, dispatcher, monotonicMs });
  const nodeId = () => lease.workerId;
  const reaper = createReaper({ sql: databases.chores, nodeId, monotonicMs, log, onReturned });
  const janitor = createJanitor({ sql: databases.chores, nodeId, retentionDays: deps.retentionDays });
  const slotKeeper = createSlotKeeper({ sql: databases.chores, lanes, lease, dispatcher, monotonicMs });

  function start(claim: Claim, lane: Lane): void {
    attempts.start(claim, () => dispatcher.finish(lane));
  }

  function hint(message: Hint): void {
    if (lease.peers === 0) return;
    sendHint(databases.chores, message, lease.workerId).catch((err) => log.debug({ err }, "hint.lost"));
  }

  function waitFor(runAt: Date): void {
    if (alarm.isSooner(runAt)) alarmLoop?.wake();
  }

  function onAccepted(task: NewTask, accepted: Accepted): void {
    if (task.sandbox) return;
    if (accepted.runAt > accepted.createdAt) waitFor(accepted.runAt);
    else due(task.teamId, task.queue);
  }

  function onReturned(returned: readonly Returned[]): void {
    for (const { teamId, queue, status } of returned) if (status === "pending") due(teamId, queue);
  }

  function due(teamId: number, queue: string): void {
    dispatcher.notice(teamId, queue, 1);
    const grant = lanes.find(teamId, queue)?.grant;
    // Whoever holds all the slots needs nobody's help.
    if (grant == null || grant.slots < grant.concurrency) hint({ kind: "due", teamId, queue });
  }

  function run(name: string, once: () => Promise<number>): Loop {
    const loop = startLoop({ name, once, log });
    loops.push(loop);
    return loop;
  }

  return {
    lease,
    dispatcher,
    attempts,
    alarm,
    reaper,
    janitor,
    submit: (task) => intake.submit(task),
    hear(message) {
      const heard = parseHint(message);
      if (heard === null || heard.from === lease.workerId) return;
      if (heard.kind === "due") dispatcher.notice(heard.teamId, heard.queue);
      else dispatcher.refresh(heard.teamId, heard.queue);
    },
    lookEverywhere() {
      dispatcher.forget();
      alarm.lookEverywhere();
      alarmLoop?.wake();
    },
    async start() {
      await lease.start();
      alarmLoop = run("alarm", alarm.ringOnce);
      run("reaper", reaper.reapOnce);
      run("janitor", janitor.cleanOnce);
      run("slot-keeper", slotKeeper.tidyOnce);
      run("reconciler", async () => {
        await attempts.reconcileOnce();
        return RECONCILE_MS;
      });
    },
    async stop(graceMs) {
      await intake.drained();
      await dispatcher.stop();
      const grace = setTimeout(endGrace, graceMs);
      await Promise.race([attempts.finished(), hurried]);
      clearTimeout(grace);
      settler.giveUp();
      attempts.abandon();
      await attempts.finished();
      await Promise.all(loops.map((loop) => loop.stop()));
      await settler.drained();
      await lease.stop();
    },
    hurry: () => endGrace(),
  };
}
