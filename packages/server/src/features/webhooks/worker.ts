import { type BellhopEvent, isWanted } from "../../domain/event.ts";
import type { Webhook } from "../../domain/webhook.ts";
import { MIB, type RoundCost } from "../../engine/round-cost.ts";
import { newUuid } from "../../service/new-uuid.ts";
import { describeEvents, placeAfter, ROWS } from "../../service/tasks/event-pages.ts";
import type { Sql } from "../../store/sql.ts";
import { type EventPlace, type EventRow, readEvents } from "../../store/tasks/event-reads.ts";
import {
  advanceReader,
  countPending,
  type NewDelivery,
  webhookReaders,
} from "../../store/tasks/webhook-deliveries.ts";
import { enabledWebhooks } from "./store.ts";

const LOOK_MS = 1_000;
/** Interval while no team has a webhook. */
const IDLE_MS = 5_000;
/** Teams per read. */
const TEAMS = 100;
export const FAN_OUT_COST: RoundCost = { rows: ROWS, bytes: ROWS * MIB, per: "team", turns: "each" };
/** Maximum pending events for a failing receiver. Further ones are dropped. */
const MOST_WAITING = 10_000;

export interface WebhookFanOut {
  /** Creates deliveries for new events. Returns the milliseconds until the next round. */
  workOnce(): Promise<number>;
}

/**
 * Creates deliveries for the events of teams with webhooks. Every node does: the statement that stores the deliveries
 * also moves the team's read position, so each event is delivered to each webhook once, by the first node.
 */
export function createWebhookFanOut(deps: {
  readonly sql: Sql;
  /** Serializes the event. */
  readonly inWords: (event: BellhopEvent) => string;
  readonly onStored: () => void;
}): WebhookFanOut {
  const { sql } = deps;

  /** True if there is more to read. */
  async function workFor(
    place: EventPlace,
    rows: readonly EventRow[],
    horizon: EventPlace["position"],
  ): Promise<boolean> {
    const { teamId, position } = place;
    const events = await describeEvents(sql, teamId, rows, position);
    const webhooks = await listening(teamId);
    const deliveries = events.flatMap((event) => {
      const wanted = webhooks.filter((webhook) => wants(webhook, event));
      if (wanted.length === 0) return [];
      const { type } = event;
      const body = deps.inWords(event);
      return wanted.map(
        (webhook): NewDelivery => ({ id: newUuid(), webhookId: webhook.id, event: type, body }),
      );
    });
    await advanceReader(sql, place, placeAfter(rows, horizon, position), deliveries);
    if (deliveries.length > 0) deps.onStored();
    return rows.length === ROWS;
  }

  async function listening(teamId: number): Promise<Webhook[]> {
    const webhooks = await enabledWebhooks(sql, teamId);
    const kept: Webhook[] = [];
    for (const webhook of webhooks) {
      const isFull =
        webhook.failingSince !== null &&
        (await countPending(sql, teamId, webhook.id, MOST_WAITING)) >= MOST_WAITING;
      if (!isFull) kept.push(webhook);
    }
    return kept;
  }

  return {
    async workOnce() {
      const places = await webhookReaders(sql);
      let hasMore = false;
      for (let first = 0; first < places.length; first += TEAMS) {
        const asked = places.slice(first, first + TEAMS);
        const { rows, horizon } = await readEvents(sql, asked, ROWS);
        for (const place of asked) {
          const own = rows.filter(({ teamId }) => teamId === place.teamId);
          if (own.length > 0) hasMore = (await workFor(place, own, horizon)) || hasMore;
        }
      }
      return hasMore ? 0 : places.length === 0 ? IDLE_MS : LOOK_MS;
    },
  };
}

function wants({ events: types, queue, tag, createdAt }: Webhook, event: BellhopEvent): boolean {
  return event.at >= createdAt && isWanted(event, { sandbox: false, types, queue, tag });
}
