// One node evaluates all alerts, under a lease in the database. Two races matter. A node that was frozen past its lease
// continues with old figures: every team's transaction checks that its round is still the current one. Two nodes, or a
// request and a node, change one alert: both lock its row and decide from what it holds then. A state and the messages
// about it are written in one transaction, so no message is lost or created twice.

import type { Log } from "../../engine/log.ts";
import { LEAN, type RoundCost } from "../../engine/round-cost.ts";
import { newUuid } from "../../service/new-uuid.ts";
import type { Database, Sql } from "../../store/sql.ts";
import {
  type AlertStanding,
  isSameCondition,
  type Judgement,
  judge,
  MOST_ALERTS,
  MOST_CHANNELS,
} from "./domain.ts";
import { composeMessage } from "./domain-messages.ts";
import { enabledAlerts, lockEnabledAlerts, type StoredAlert, writeStandings } from "./store.ts";
import { readChannelsOf } from "./store-channels.ts";
import { MOST_LANES } from "./store-figures.ts";
import { insertMessages } from "./store-messages.ts";
import { holdRounds, shareRound, teamsWithAlerts } from "./store-rounds.ts";
import { createFigures, type FigureSources } from "./worker-figures.ts";

const ROUND_SECONDS = 60;
/** Another node takes over after this long. */
const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;
const TEAMS = 100;
/** Each alert reads a figure. */
export const ALERT_COST: RoundCost = {
  rows: MOST_ALERTS * MOST_LANES,
  bytes: MOST_ALERTS * MOST_CHANNELS * LEAN,
  per: "team",
  turns: "each",
};

export interface AlertEvaluator {
  /** Renews the lease and runs a round if one is due. Returns the milliseconds until the next look. */
  evaluateOnce(): Promise<number>;
}

export function createAlertEvaluator(
  deps: FigureSources & {
    readonly database: Database;
    readonly monotonicMs: () => number;
    readonly log: Log;
    /** Messages were stored. */
    readonly onStored: () => void;
  },
): AlertEvaluator {
  const { database, log } = deps;
  const holder = newUuid();
  let renewAtMs = 0;

  const hold = async (mayBegin: boolean) => {
    renewAtMs = deps.monotonicMs() + RENEW_MS;
    return holdRounds(database, holder, LEASE_SECONDS, ROUND_SECONDS, mayBegin);
  };

  /** False if the lease is lost. */
  async function keepLease(round: number): Promise<boolean> {
    if (deps.monotonicMs() < renewAtMs) return true;
    return (await hold(false))?.round === round;
  }

  /** False if another node has taken over. */
  async function evaluateTeam(teamId: number, round: number): Promise<boolean> {
    const readFigure = createFigures(deps, teamId);
    const figures = new Map<string, { readonly read: StoredAlert; readonly value: number | null }>();
    for (const read of await enabledAlerts(database, teamId))
      figures.set(read.id, { read, value: await readFigure(read.when) });
    return database.transaction(async (sql) => {
      if (!(await shareRound(sql, holder, round))) return false;
      const { alerts, now } = await lockEnabledAlerts(sql, teamId);
      const changed: { readonly alert: StoredAlert; readonly judged: Judgement }[] = [];
      for (const alert of alerts) {
        const figure = figures.get(alert.id);
        // Created or changed while the figures were read: the next round evaluates it.
        if (figure === undefined || !isSameCondition(figure.read.when, alert.when)) continue;
        const judged = judge(alert, figure.value, now);
        if (isDifferent(alert, judged)) changed.push({ alert, judged });
      }
      if (changed.length > 0) await store(sql, teamId, changed);
      return true;
    });
  }

  async function store(
    sql: Sql,
    teamId: number,
    changed: readonly { readonly alert: StoredAlert; readonly judged: Judgement }[],
  ): Promise<void> {
    await writeStandings(
      sql,
      teamId,
      changed.map(({ alert: { id }, judged }) => ({ ...judged, id })),
    );
    const told = changed.flatMap(({ alert, judged: { message: type, value, since } }) =>
      type === null ? [] : { alert, message: composeMessage(alert, { type, value, since }) },
    );
    if (told.length === 0) return;
    const ids = told.map(({ alert }) => alert.id);
    const channels = await readChannelsOf(sql, teamId, ids);
    const messages = told.flatMap(({ alert, message }) => {
      const messageId = newUuid();
      return channels
        .filter(({ alertId }) => alertId === alert.id)
        .map(({ id: channelId }) => ({ id: newUuid(), messageId, channelId, message }));
    });
    await insertMessages(sql, teamId, messages);
    for (const { message } of told) log.info({ team: teamId, ...logged(message) }, "alert.changed");
  }

  async function runRound(round: number): Promise<void> {
    for (let after = -1; ; ) {
      const teamIds = await teamsWithAlerts(database, after, TEAMS);
      for (const teamId of teamIds) {
        if (!(await keepLease(round))) return;
        // One team's failure must not keep the others from being evaluated.
        const isCurrent = await evaluateTeam(teamId, round).catch((err: unknown) => {
          log.error({ team: teamId, err }, "alerts.not_evaluated");
          return true;
        });
        if (!isCurrent) return;
        after = teamId;
      }
      if (teamIds.length > 0) deps.onStored();
      if (teamIds.length < TEAMS) return;
    }
  }

  return {
    async evaluateOnce() {
      const held = await hold(true);
      if (held === null) return RENEW_MS;
      if (held.isDue) await runRound(held.round);
      return Math.max(0, Math.min(RENEW_MS, held.untilNextMs));
    },
  };
}

function logged({ type, alert, value }: ReturnType<typeof composeMessage>): object {
  return { type, alert: alert.id, kind: alert.when.kind, value };
}

function isDifferent(before: AlertStanding, after: Judgement): boolean {
  return (
    after.message !== null ||
    before.state !== after.state ||
    before.value !== after.value ||
    before.heldSince?.getTime() !== after.heldSince?.getTime()
  );
}
