import type { TaskChanges } from "../domain/task-changes.ts";
import { atMost, type Time } from "../domain/time.ts";
import { createActors } from "./actors.ts";
import { createAdmission } from "./admission.ts";
import { createAttempts } from "./attempts.ts";
import { BUDGET_COST, createBudget, type FindBudgets } from "./budget.ts";
import { createCancellations } from "./cancellations.ts";
import type { ComposeMessage } from "./courier.ts";
import { createDatabaseClock } from "./database-clock.ts";
import { createDeadlines, DEADLINE_COST } from "./deadlines.ts";
import { createDeliveryActors } from "./delivery-actors.ts";
import type { EngineDatabases } from "./engine-databases.ts";
import type { Engine } from "./engine-view.ts";
import type { HasRoom } from "./fit-result.ts";
import { createFollowers } from "./followers.ts";
import { createHintHandler } from "./hint-handler.ts";
import { createHints } from "./hints.ts";
import { paceByHost } from "./host-pace.ts";
import { createJanitor, JANITOR_COST } from "./janitor.ts";
import { createLease } from "./lease.ts";
import type { Log } from "./log.ts";
import type { MessageCalls } from "./message-calls.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { Outgoing, TraceCalls } from "./outgoing.ts";
import { createReaper, REAPER_COST } from "./reaper.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";
import { createSettler, SETTLE_COST } from "./settler.ts";
import { createUnanswered } from "./unanswered.ts";
import type { SettleDelivery } from "./webhook-courier.ts";

export type { Engine } from "./engine-view.ts";

const RECONCILE_MS = 5_000;
const RECONCILE_COST: RoundCost = { rows: 1, bytes: LEAN, per: "call", turns: "each" };
const LEASE_COST: RoundCost = { rows: 1, bytes: LEAN, turns: "none" };
/** The longest that a stop waits for a silent database to store accepted tasks. */
const LAST_INTAKE_MS = 2_000;
/** The longest that a stop waits for the release of claims: a process must exit within 5 s after its grace period. */
const FAREWELL_MS = 2_000;

/**
 * Puts the four parts of the engine together: admission decides which tasks start, attempts make their calls, deliveries make
 * those that follow, and the rest keeps this node and the others in step.
 */
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
  const lease = createLease({
    ...deps,
    sql: databases.lease,
    meter,
    onLost: abandonAll,
    onHeld: () => admission.dispatcher.forget(),
  });
  const workerId = () => lease.workerId;
  const hint = createHints({ sql: databases.chores, workerId, hasReceivers: () => lease.peers > 0, log });
  const unanswered = createUnanswered(time);
  const clock = createDatabaseClock(time);
  const { learn, limitsOf } = budget;
  const shared = {
    ...deps,
    budget,
    lease,
    workerId,
    hint,
    unanswered,
    clock,
    actors,
    meter,
    learn,
    limitsOf,
  };

  const admission = createAdmission({
    ...shared,
    begin: (claim, slot) => attempts.start(claim, slot),
    release: (claims) => attempts.giveBack(claims),
  });
  const outgoing = paceByHost(deps.outgoing, limitsOf, time);
  const deliveries = createDeliveryActors({ ...shared, sql: databases.polls, outgoing, traceCalls });
  const followingTasks = { ...shared, onFollowed: changes.created };
  const followers = createFollowers({ ...followingTasks, database: databases.settle });
  const { breakers, hosts } = admission;
  const joins = { followers, hosts, onBreakers: breakers.wake };
  const settler = createSettler({ sql: databases.settle, workerId, time, log, meter, joins });
  const attempts = createAttempts({
    ...shared,
    sql: databases.settle,
    outgoing: traceCalls("attempt", outgoing),
    settler,
    hosts,
    followers,
    onBegan: admission.began,
    onAskedToWait: admission.askedToWait,
    onSettled(settled, claim) {
      admission.settled(settled, claim);
      if (settled.status === "polling" && settled.runAt !== null) deliveries.pollDue(settled.runAt);
    },
    onReturned: admission.returned,
  });

  const chores = { ...shared, sql: databases.chores };
  const reaper = createReaper({
    ...chores,
    followers: createFollowers({ ...followingTasks, database: databases.chores }),
    onReturned: admission.returned,
  });
  const janitor = createJanitor(chores);
  const deadlines = createDeadlines(chores);
  const { poller, courier, webhookCourier, notificationDue } = deliveries;
  const cancellations = createCancellations({
    ...chores,
    attempts,
    poller,
    // Received by the node that cancelled, which may be an `api` node.
    send: createHints({ sql: databases.chores, workerId, hasReceivers: () => true, log }),
  });
  actors.add({ name: "deadlines", once: deadlines.expireOnce, cost: DEADLINE_COST });
  actors.add({ name: "reaper", once: reaper.reapOnce, cost: REAPER_COST });
  actors.add({ name: "janitor", once: janitor.cleanOnce, cost: JANITOR_COST });
  const reconcile = () => attempts.reconcileOnce().then(() => RECONCILE_MS);
  actors.add({ name: "reconciler", once: reconcile, cost: RECONCILE_COST });
  actors.add({ name: "budgets", once: budget.refreshOnce, cost: BUDGET_COST });
  actors.declare("lease", LEASE_COST);
  actors.declare("settler", SETTLE_COST);

  const hear = createHintHandler({
    ownId: workerId,
    admission,
    cancellations,
    budget,
    wake: actors.wake,
    notificationDue,
  });
  changes.subscribe({ ended: (_task, _ending, notify) => (notify ? notificationDue() : undefined) });

  /** Releases all claims. If a silent database does not store that, the reaper of another node releases them. */
  async function letGo(): Promise<void> {
    settler.giveUp();
    attempts.close();
    const stopped = [admission.stop(), actors.stop()];
    abandonAll();
    const underWay = [attempts, poller, courier, webhookCourier, cancellations];
    await Promise.all([...stopped, ...underWay.map((each) => each.finished())]);
    abandonAll();
    await Promise.all(underWay.map((each) => each.finished()));
    await settler.drained();
    await admission.drained();
    await lease.stop();
  }

  function abandonAll(): void {
    for (const each of [attempts, poller, courier, webhookCourier, cancellations]) each.abandon();
  }

  const { dispatcher, alarm, flowAlarm, flows, orderedQueues, submit } = admission;
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
    submit,
    hear,
    lookEverywhere() {
      admission.lookEverywhere();
      actors.wake("scheduler", "reconciler");
    },
    async start() {
      await lease.start();
      reaper.watchFirst();
      actors.start();
    },
    async stop(graceMs) {
      const grace = time.setTimer(endGrace, graceMs);
      await atMost(time, admission.takeNoMore(), LAST_INTAKE_MS);
      admission.leave();
      await Promise.race([attempts.finished(), hurried]);
      grace.cancel();
      await atMost(time, letGo(), FAREWELL_MS);
    },
    notificationDue,
    follow: cancellations.follow,
    isCrowded: dispatcher.isCrowded,
    hurry: () => endGrace(),
  };
}
