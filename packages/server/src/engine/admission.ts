import type { Claim } from "../domain/claim.ts";
import type { TaskChanges } from "../domain/task-changes.ts";
import type { Time } from "../domain/time.ts";
import type { Returned } from "../store/tasks/task-returns.ts";
import type { Settled } from "../store/tasks/task-settlements.ts";
import type { Actors } from "./actors.ts";
import { ALARM_COST, type Alarm, createAlarm, createFlowAlarm, FLOW_ALARM_COST } from "./alarm.ts";
import { type AttemptSlot, createAttemptSlot } from "./attempt-slot.ts";
import { type Breakers, createBreakers } from "./breakers.ts";
import type { Budget } from "./budget.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { CLAIM_COST, createDispatcher, type Dispatcher } from "./dispatcher.ts";
import type { EngineDatabases } from "./engine-databases.ts";
import { FLOW_CLAIM_COST } from "./flow-claim-request.ts";
import { createFlows, type Flows } from "./flows.ts";
import type { SayHint } from "./hints.ts";
import { createHostAttempts, type HostAttempts } from "./host-attempts.ts";
import { createIntake, INTAKE_COST, type Intake } from "./intake.ts";
import type { Lease } from "./lease.ts";
import { createLocalQueues, type LocalQueue, startsBeforeSettled } from "./local-queues.ts";
import type { Log } from "./log.ts";
import type { EngineMeter } from "./meter.ts";
import { createOrderedQueues, type OrderedQueues } from "./ordered-queues.ts";
import { createQueueClaims } from "./queue-claims.ts";
import { createRecheck, type Recheck } from "./recheck.ts";
import { createSlotKeeper, SLOT_COST } from "./slot-keeper.ts";
import type { Unanswered } from "./unanswered.ts";
import { createWaitingTasks } from "./waiting-tasks.ts";

/** Decides which tasks start: see docs/admission.md. An attempt does not know why its task may start. */
export interface Admission extends Pick<Intake, "submit"> {
  readonly dispatcher: Dispatcher;
  readonly flows: Flows;
  readonly breakers: Breakers;
  /** Counts the results of attempts for the circuit breakers of their hosts. */
  readonly hosts: HostAttempts;
  readonly orderedQueues: OrderedQueues;
  readonly alarm: Alarm;
  readonly flowAlarm: Alarm;
  readonly recheck: Recheck;
  /** The call begins now: its permits count from now. */
  began(claim: Claim): void;
  /** The attempt was settled. */
  settled(settled: Settled, claim: Claim): void;
  /** The target asked to wait. */
  askedToWait(claim: Claim, waitMs: number): void;
  /** Claims of dead or late workers were released. */
  returned(tasks: readonly Returned[]): void;
  /** Checks everything again, because hints may have been missed. */
  lookEverywhere(): void;
  wakeAlarms(): void;
  /** Stores what was accepted, and claims nothing more. */
  takeNoMore(): Promise<void>;
  /** Gives slots to other workers: unused ones at once, others when their calls end. */
  leave(): void;
  stop(): Promise<void>;
  /** Resolves when all that ended calls leave in the database is stored. */
  drained(): Promise<void>;
}

export function createAdmission(deps: {
  readonly databases: EngineDatabases;
  readonly actors: Actors;
  readonly budget: Pick<Budget, "openPool" | "learn">;
  readonly capacity: number;
  readonly lease: Lease;
  readonly unanswered: Unanswered;
  readonly clock: DatabaseClock;
  readonly hint: SayHint;
  readonly changes: TaskChanges;
  readonly time: Time;
  readonly log: Log;
  readonly meter: EngineMeter;
  /** Makes the call of a claimed task, which has this slot. */
  readonly begin: (claim: Claim, slot: AttemptSlot) => void;
  /** Gives claims back that came too late to begin. */
  readonly release: (claims: readonly Claim[]) => Promise<void>;
}): Admission {
  const { databases, actors, budget, lease, unanswered, clock, hint, changes, time, log, meter } = deps;
  const { release } = deps;
  const localQueues = createLocalQueues(budget.openPool(deps.capacity, () => dispatcher.wake()));
  const onShort = (local: LocalQueue) => recheck.later(local);
  const shared = { localQueues, lease, unanswered, changes, time, log, meter, hint, release, onShort };

  const queueClaims = createQueueClaims({
    database: databases.claim,
    localQueues,
    time,
    lineUp: (local) => dispatcher.lineUp(local),
  });
  const flows = createFlows({
    ...shared,
    database: databases.claim,
    chores: databases.settle,
    start,
    claimFlows: queueClaims.claimFlows,
    holdBack: (offers, waitingFlows) => breakers.holdFlowsBack(offers, waitingFlows),
    lineUp: (local) => dispatcher.lineUp(local),
  });
  const dispatcher = createDispatcher({
    ...shared,
    database: databases.claim,
    learn: budget.learn,
    start,
    holdBack: (teamId, grant) => breakers.holdBack(teamId, grant),
    claim: queueClaims.claim,
    claimFlows: flows.claim,
    lines: flows,
  });
  const recheck = createRecheck({ sql: databases.chores, dispatcher, time, log });
  const alarm = createAlarm({ ...shared, sql: databases.chores, dispatcher, clock });
  const flowAlarm = createFlowAlarm({ sql: databases.chores, flows, time, clock });
  const { due, onReturned } = createWaitingTasks({ ...shared, actors, dispatcher, flows, waitFor });
  const breakers = createBreakers({ database: databases.chores, claims: databases.claim, actors, due });
  const orderedQueues = createOrderedQueues({
    sql: databases.chores,
    changes,
    actors,
    wake: (teamId, queue) => due(teamId, queue, null),
    onUnordered() {
      flowAlarm.lookEverywhere();
      flowAlarmActor.wake();
    },
  });
  const intake = createIntake({
    ...shared,
    sql: databases.intake,
    dispatcher,
    flows,
    start(claim, local) {
      flows.handedOff(claim);
      start(claim, local);
    },
  });
  const hosts = createHostAttempts({ database: databases.chores, localQueues, time, log });
  const slotKeeper = createSlotKeeper({ ...shared, sql: databases.chores, dispatcher });

  const alarmActor = actors.add({ name: "alarm", once: alarm.ringOnce, cost: ALARM_COST });
  const flowAlarmActor = actors.add({ name: "flow-alarm", once: flowAlarm.ringOnce, cost: FLOW_ALARM_COST });
  const slotKeeperActor = actors.add({ name: "slot-keeper", once: slotKeeper.tidyOnce, cost: SLOT_COST });
  actors.declare("dispatcher", CLAIM_COST);
  actors.declare("flows", FLOW_CLAIM_COST);
  actors.declare("intake", INTAKE_COST);

  function start(claim: Claim, local: LocalQueue): void {
    if (local.grant !== null && local.grant.breaker !== null) hosts.watch(claim.queueId);
    const isFreeAfterCall = () => claim.flow === null && startsBeforeSettled(local);
    const slot = createAttemptSlot(isFreeAfterCall, () => {
      flows.ended(claim);
      dispatcher.finish(local);
      if (slotKeeper.isLeaving) slotKeeperActor.wake();
    });
    deps.begin(claim, slot);
  }

  function waitFor(runAt: Date, flow: string | null): void {
    if (flow !== null) {
      if (flowAlarm.isSooner(runAt)) flowAlarmActor.wake();
    } else if (alarm.isSooner(runAt)) alarmActor.wake();
  }

  function wakeAlarms(): void {
    alarmActor.wake();
    flowAlarmActor.wake();
  }

  return {
    submit: intake.submit,
    dispatcher,
    flows,
    breakers,
    hosts,
    orderedQueues,
    alarm,
    flowAlarm,
    recheck,
    wakeAlarms,
    began(claim) {
      flows.began(claim);
      queueClaims.began(claim);
    },
    settled({ status, runAt, hasLeftFlow }, claim) {
      if (hasLeftFlow) flows.left(claim);
      if (status === "pending" && runAt !== null) waitFor(runAt, claim.flow);
    },
    askedToWait: flows.askedToWait,
    returned: onReturned,
    lookEverywhere() {
      dispatcher.forget();
      alarm.lookEverywhere();
      flowAlarm.lookEverywhere();
      wakeAlarms();
    },
    async takeNoMore() {
      await intake.drained();
      await dispatcher.stop();
    },
    leave() {
      slotKeeper.leave();
      slotKeeperActor.wake();
    },
    stop() {
      recheck.stop();
      flows.stop();
      return dispatcher.stop();
    },
    async drained() {
      await Promise.all([flows.drained(), hosts.drained()]);
    },
  };
}
