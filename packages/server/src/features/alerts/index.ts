import { createOutgoing } from "../../engine/outgoing.ts";
import { createBudgetLookup } from "../../service/access/team-budgets.ts";
import { firstTeam } from "../../store/identity/teams.ts";
import { createVault } from "../../vault/vault.ts";
import { defineFeature } from "../feature.ts";
import { registerAlertRoutes } from "./routes.ts";
import { createAlertService } from "./service.ts";
import { ALERT_COURIER_COST, createAlertCourier } from "./worker-courier.ts";
import { ALERT_COST, createAlertEvaluator } from "./worker-evaluator.ts";

/** What alerts read from other features. */
interface Watched {
  readonly schedules: { readonly failedFirings: (teamId: number, most: number) => Promise<number | null> };
  readonly breakers: {
    readonly service: { readonly countOpen: (teamId: number, queue: string | null) => Promise<number> };
  };
  readonly webhooks: { readonly countDisabled: (teamId: number) => Promise<number> };
}

const COURIER = "alert-courier";

/** Watches figures of a team and sends messages when they pass a threshold. */
export const alerts = defineFeature((core, { schedules, webhooks, breakers }: Watched) => {
  const { databases, actors, log, time, keyRing, publicUrl, refuseUrl, deliverMail = null } = core;
  const vault = createVault({ sql: databases.api, keyRing });
  const wake = () => actors.wake(COURIER);
  const service = createAlertService({
    database: databases.api,
    vault,
    nowMs: time.nowMs,
    onStored: wake,
  });
  const evaluator = createAlertEvaluator({
    database: databases.chores,
    sql: databases.chores,
    openBreakers: breakers.service.countOpen,
    disabledWebhooks: webhooks.countDisabled,
    failedFirings: schedules.failedFirings,
    bytesOf: core.storageQuota.bytesOf,
    limitsOf: async (teamId) => (await core.termsOf([teamId])).get(teamId)?.limits ?? null,
    isOperator: async (teamId) => teamId === (await firstTeam(databases.chores)),
    diskPercent: async () => (await core.space?.usedPercent()) ?? null,
    monotonicMs: time.monotonicMs,
    log,
    onStored: wake,
  });
  const courier = createAlertCourier({
    sql: databases.chores,
    outgoing: createOutgoing({
      caller: core.caller,
      vault,
      signingSecrets: core.signingSecrets.secretsFor,
      publicUrl,
      nowMs: time.nowMs,
    }),
    deliverMail,
    vault,
    publicUrl,
    log,
    findBudgets: createBudgetLookup(databases.chores, core.limitsOf),
    monotonicMs: time.monotonicMs,
    wake,
  });
  return {
    service,
    evaluator,
    courier,
    routes: [
      (app) => registerAlertRoutes(app, { alerts: service, refuseUrl, canMail: deliverMail !== null }),
    ],
    actors: [
      { name: "alerts", once: evaluator.evaluateOnce, cost: ALERT_COST },
      { name: COURIER, once: courier.workOnce, cost: ALERT_COURIER_COST },
    ],
  };
});
