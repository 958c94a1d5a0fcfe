import type { Claim } from "../domain/claim.ts";
import type { TaskChanges } from "../domain/task-changes.ts";
import { atMost, type Time } from "../domain/time.ts";
import type { Settled } from "../store/tasks/task-settlements.ts";
import { createActors } from "./actors.ts";
import { ALARM_COST, createAlarm, createFlowAlarm, FLOW_ALARM_COST } from "./alarm.ts";
import { createAttemptSlot } from "./attempt-slot.ts";
import { createAttempts } from "./attempts.ts";
import { createBreakers } from "./breakers.ts";
import { BUDGET_COST, createBudget, type FindBudgets } from "./budget.ts";
import { createCancellations } from "./cancellations.ts";
import { COURIER_COST, type ComposeMessage, createCourier, MOST_NOTIFICATIONS } from "./courier.ts";
import { createDatabaseClock } from "./database-clock.ts";
import { createDeadlines, DEADLINE_COST } from "./deadlines.ts";
import { CLAIM_COST, createDispatcher } from "./dispatcher.ts";
import type { EngineDatabases } from "./engine-databases.ts";
import type { Engine } from "./engine-view.ts";
import type { HasRoom } from "./fit-result.ts";
import { FLOW_CLAIM_COST } from "./flow-claim-request.ts";
import { createFlows } from "./flows.ts";
import { createFollowers } from "./followers.ts";
import { createHintHandler } from "./hint-handler.ts";
import { createHints } from "./hints.ts";
import { createHostAttempts } from "./host-attempts.ts";
import { paceByHost } from "./host-pace.ts";
import { createIntake, INTAKE_COST } from "./intake.ts";
import { createJanitor, JANITOR_COST } from "./janitor.ts";
import { createLease } from "./lease.ts";
import { createLocalQueues, type LocalQueue, startsBeforeSettled } from "./local-queues.ts";
import type { Log } from "./log.ts";
import type { MessageCalls } from "./message-calls.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import { createOrderedQueues } from "./ordered-queues.ts";
import type { Outgoing, TraceCalls } from "./outgoing.ts";
import { createPoller, MOST_POLLS, POLL_COST } from "./poller.ts";
import { createQueueClaims } from "./queue-claims.ts";
import { createReaper, REAPER_COST } from "./reaper.ts";
import { createRecheck } from "./recheck.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";
import { createSettler, SETTLE_COST } from "./settler.ts";
import { createSlotKeeper, SLOT_COST } from "./slot-keeper.ts";
import { createUnanswered } from "./unanswered.ts";
import { createWaitingTasks } from "./waiting-tasks.ts";
import {
  createWebhookCourier,
  DELIVERY_COST,
  MOST_DELIVERIES,
  type SettleDelivery,
} from "./webhook-courier.ts";

export type { Engine } from "./engine-view.ts";

const RECONCILE_MS = 5_000;
const RECONCILE_COST: RoundCost = { rows: 1, bytes: LEAN, per: "call", turns: "each" };
const LEASE_COST: RoundCost = { rows: 1, bytes: LEAN, turns: "none" };
/** The longest that a stop waits for a silent database to store accepted tasks. */
const LAST_INTAKE_MS = 2_000;
/** The longest that a stop waits for the release of claims: a process must exit within 5 s after its grace period. */
const FAREWELL_MS = 2_000;

/** Puts the parts of the engine together. This file is longer than 300 lines: it is one list of parts, read from top to bottom. */
export function createEngine(deps: {
  readonly databases: EngineDatabases;
  readonly outgoing: Outgoing;
  readonly json: Parameters<typeof createAttempts>[0]["json"];
  readonly traceCalls?: TraceCalls | undefined;
  readonly log: Log;
  readonly meter?: EngineMeter;
  readonly name: string;
  readonly capacity: number;
  readonly findBudgets: FindBudgets;
  readonly retentionDays: number;
  readonly resultLimitBytes: number;
  readonly composeMessage: ComposeMessage;
  readonly settleDelivery: SettleDelivery;
  readonly hasRoom?: HasRoom;
  readonly messages?: MessageCalls;
  readonly changes: TaskChanges;
  readonly time: Time;
  readonly random: () => number;
}): Engine {
  const { databases, log, time, changes, meter = NO_METER, traceCalls = (_kind, each) => each } = deps;
  const actors = createActors({ time, log });
  let endGrace: () => void = () => {};
  const hurried = new Promise<void>((resolve) => {
    endGrace = resolve;
  });

  const budget = createBudget({ find: deps.findBudgets, nodes: () => lease.peers + 1 });
  const localQueues = createLocalQueues(budget.openPool(deps.capacity, () => dispatcher.wake()));
  const lease = createLease({
    ...deps,
    sql: databases.lease,
    meter,
    onLost: abandonAll,
    onHeld: () => dispatcher.forget(),
  });
  const workerId = () => lease.workerId;
  const hint = createHints({ sql: databases.chores, workerId, hasReceivers: () => lease.peers > 0, log });
  const unanswered = createUnanswered(time);
  const clock = createDatabaseClock(time);
  const release = (claims: readonly Claim[]) => attempts.giveBack(claims);
  const followingTasks = {
    log,
    messages: deps.messages,
    limitsOf: budget.limitsOf,
    hasRoom: deps.hasRoom,
    onFollowed: changes.created,
  };
  const followers = createFollowers({ ...followingTasks, database: databases.settle });
  const hosts = createHostAttempts({ database: databases.chores, localQueues, time, log });
  const joins = { followers, hosts, onBreakers: () => breakers.wake() };
  const settler = createSettler({ sql: databases.settle, workerId, time, log, meter, joins });
  const outgoing = paceByHost(deps.outgoing, budget.limitsOf, time);
  const attempts = createAttempts({
    ...deps,
    sql: databases.settle,
    outgoing: traceCalls("attempt", outgoing),
    settler,
    hosts,
    followers,
    lease,
    unanswered,
    meter,
    limitsOf: budget.limitsOf,
    onSettled,
    onBegan(claim) {
      flows.began(claim);
      queueClaims.began(claim);
    },
    onAskedToWait: (claim, waitMs) => flows.askedToWait(claim, waitMs),
    onReturned: (returned) => waiting.onReturned(returned),
  });
  const dispatcher = createDispatcher({
    ...deps,
    database: databases.claim,
    learn: budget.learn,
    localQueues,
    lease,
    unanswered,
    meter,
    start,
    release,
    onShort: (local) => recheck.later(local),
    hint,
    holdBack: (teamId, grant) => breakers.holdBack(teamId, grant),
    claim: (asked, memory) => queueClaims.claim(asked, memory),
    claimFlows: (local) => flows.claim(local),
    lines: {
      get notices() {
        return flows.notices;
      },
      joinLine: (local) => flows.joinLine(local),
      headFound: (...found) => flows.headFound(...found),
    },
  });
  const queueClaims = createQueueClaims({
    database: databases.claim,
    localQueues,
    time,
    lineUp: dispatcher.lineUp,
  });
  const flows = createFlows({
    ...deps,
    database: databases.claim,
    chores: databases.settle,
    localQueues,
    lease,
    unanswered,
    meter,
    start,
    release,
    hint,
    claimFlows: queueClaims.claimFlows,
    onShort: (local) => recheck.later(local),
    holdBack: (offers, waitingFlows) => breakers.holdFlowsBack(offers, waitingFlows),
    lineUp: dispatcher.lineUp,
  });
  const flowAlarm = createFlowAlarm({ sql: databases.chores, flows, time, clock });
  const waiting = createWaitingTasks({
    changes,
    actors,
    dispatcher,
    flows,
    localQueues,
    hint,
    meter,
    waitFor,
  });
  const orderedQueues = createOrderedQueues({
    sql: databases.chores,
    changes,
    actors,
    wake: (teamId, queue) => waiting.due(teamId, queue, null),
    onUnordered() {
      flowAlarm.lookEverywhere();
      flowAlarmActor.wake();
    },
  });
  const breakers = createBreakers({
    database: databases.chores,
    claims: databases.claim,
    actors,
    due: (teamId, queue, flow) => waiting.due(teamId, queue, flow),
  });
  const recheck = createRecheck({ sql: databases.chores, dispatcher, time, log });
  const intake = createIntake({
    sql: databases.intake,
    lease,
    dispatcher,
    unanswered,
    flows,
    start(claim, local) {
      flows.handedOff(claim);
      start(claim, local);
    },
    release,
    changes,
    time,
    meter,
  });
  const alarm = createAlarm({ sql: databases.chores, dispatcher, time, clock });
  const reaper = createReaper({
    sql: databases.chores,
    workerId,
    time,
    clock,
    log,
    meter,
    followers: createFollowers({ ...followingTasks, database: databases.chores }),
    onReturned: waiting.onReturned,
  });
  const janitor = createJanitor({ sql: databases.chores, retentionDays: deps.retentionDays });
  const deliveries = {
    ...deps,
    sql: databases.polls,
    lease,
    unanswered,
    learn: budget.learn,
    clock,
    meter,
  };
  const poller = createPoller({
    ...deliveries,
    outgoing: traceCalls("poll", outgoing),
    pool: budget.openPool(MOST_POLLS, () => pollerActor.wake()),
    limitsOf: budget.limitsOf,
    resultLimitBytes: deps.resultLimitBytes,
    wake: () => pollerActor.wake(),
  });
  const deadlines = createDeadlines({ sql: databases.chores, workerId, time, clock, changes });
  const courier = createCourier({
    ...deliveries,
    outgoing: traceCalls("notification", outgoing),
    pool: budget.openPool(MOST_NOTIFICATIONS, wakeCourier),
    compose: deps.composeMessage,
    wake: wakeCourier,
  });
  const wakeWebhooks = () => actors.wake("webhook-courier");
  const webhookCourier = createWebhookCourier({
    ...deliveries,
    outgoing: traceCalls("delivery", outgoing),
    pool: budget.openPool(MOST_DELIVERIES, wakeWebhooks),
    settle: deps.settleDelivery,
    wake: wakeWebhooks,
  });
  // Received by the node that cancelled, which may be an `api` node.
  const tell = createHints({ sql: databases.chores, workerId, hasReceivers: () => true, log });
  const cancellations = createCancellations({
    ...deps,
    sql: databases.chores,
    attempts,
    poller,
    lease,
    send: tell,
  });
  const slotKeeper = createSlotKeeper({ sql: databases.chores, localQueues, lease, dispatcher, time, hint });
  const alarmActor = actors.add({ name: "alarm", once: alarm.ringOnce, cost: ALARM_COST });
  const flowAlarmActor = actors.add({ name: "flow-alarm", once: flowAlarm.ringOnce, cost: FLOW_ALARM_COST });
  const pollerActor = actors.add({ name: "poller", once: poller.workOnce, cost: POLL_COST });
  const courierActor = actors.add({ name: "courier", once: courier.workOnce, cost: COURIER_COST });
  actors.add({ name: "webhook-courier", once: webhookCourier.workOnce, cost: DELIVERY_COST });
  actors.add({ name: "deadlines", once: deadlines.expireOnce, cost: DEADLINE_COST });
  actors.add({ name: "reaper", once: reaper.reapOnce, cost: REAPER_COST });
  actors.add({ name: "janitor", once: janitor.cleanOnce, cost: JANITOR_COST });
  const slotKeeperActor = actors.add({ name: "slot-keeper", once: slotKeeper.tidyOnce, cost: SLOT_COST });
  const reconcile = () => attempts.reconcileOnce().then(() => RECONCILE_MS);
  actors.add({ name: "reconciler", once: reconcile, cost: RECONCILE_COST });
  actors.add({ name: "budgets", once: budget.refreshOnce, cost: BUDGET_COST });

  actors.declare("lease", LEASE_COST);
  actors.declare("dispatcher", CLAIM_COST);
  actors.declare("flows", FLOW_CLAIM_COST);
  actors.declare("intake", INTAKE_COST);
  actors.declare("settler", SETTLE_COST);

  const hear = createHintHandler({
    ownId: workerId,
    dispatcher,
    recheck,
    cancellations,
    flows,
    budget,
    wakeAlarm() {
      alarmActor.wake();
      flowAlarmActor.wake();
    },
    wake: actors.wake,
    wakeCourier,
  });
  changes.subscribe({ ended: (_task, _ending, notify) => (notify ? wakeCourier() : undefined) });

  function start(claim: Claim, local: LocalQueue): void {
    if (local.grant !== null && local.grant.breaker !== null) hosts.watch(claim.queueId);
    const isFreeAfterCall = () => claim.flow === null && startsBeforeSettled(local);
    const slot = createAttemptSlot(isFreeAfterCall, () => {
      flows.ended(claim);
      dispatcher.finish(local);
      if (slotKeeper.isLeaving) slotKeeperActor.wake();
    });
    attempts.start(claim, slot);
  }

  function waitFor(runAt: Date, flow: string | null): void {
    if (flow !== null) {
      if (flowAlarm.isSooner(runAt)) flowAlarmActor.wake();
    } else if (alarm.isSooner(runAt)) alarmActor.wake();
  }

  function onSettled({ status, runAt, hasLeftFlow }: Settled, claim: Claim): void {
    if (hasLeftFlow) flows.left(claim);
    if (status === "pending" && runAt !== null) waitFor(runAt, claim.flow);
    if (status === "polling" && runAt !== null && poller.isSooner(runAt)) pollerActor.wake();
  }

  function wakeCourier(): void {
    courierActor.wake();
  }

  async function takeNoMore(): Promise<void> {
    await intake.drained();
    await dispatcher.stop();
  }

  /** Releases all claims. If a silent database does not store that, the reaper of another node releases them. */
  async function letGo(): Promise<void> {
    settler.giveUp();
    recheck.stop();
    flows.stop();
    attempts.close();
    const stopped = [dispatcher.stop(), actors.stop()];
    abandonAll();
    const underWay = [attempts, poller, courier, webhookCourier, cancellations];
    await Promise.all([...stopped, ...underWay.map((each) => each.finished())]);
    abandonAll();
    await Promise.all(underWay.map((each) => each.finished()));
    await settler.drained();
    await Promise.all([flows.drained(), hosts.drained()]);
    await lease.stop();
  }

  function abandonAll(): void {
    for (const each of [attempts, poller, courier, webhookCourier, cancellations]) each.abandon();
  }

  return {
    actors,
    lease,
    dispatcher,
    attempts,
    alarm,
    flowAlarm,
    flows,
    reaper,
    janitor,
    poller,
    courier,
    webhookCourier,
    deadlines,
    orderedQueues,
    breakers,
    cancellations,
    submit: (task) => intake.submit(task),
    hear,
    lookEverywhere() {
      dispatcher.forget();
      alarm.lookEverywhere();
      flowAlarm.lookEverywhere();
      actors.wake("alarm", "flow-alarm", "scheduler", "reconciler");
    },
    async start() {
      await lease.start();
      reaper.watchFirst();
      actors.start();
    },
    async stop(graceMs) {
      const grace = time.setTimer(endGrace, graceMs);
      await atMost(time, takeNoMore(), LAST_INTAKE_MS);
      slotKeeper.leave();
      slotKeeperActor.wake();
      await Promise.race([attempts.finished(), hurried]);
      grace.cancel();
      await atMost(time, letGo(), FAREWELL_MS);
    },
    notificationDue: wakeCourier,
    follow: cancellations.follow,
    isCrowded: dispatcher.isCrowded,
    hurry: () => endGrace(),
  };
}
