import { type BellhopEvent, isWanted } from "../../domain/event.ts";
import type { Webhook } from "../../domain/webhook.ts";
import type { Sql } from "../../store/sql.ts";
import { type EventPlace, type EventRow, readEvents } from "../../store/tasks/event-reads.ts";
import {
  advanceReader,
  countPending,
  type NewDelivery,
  webhookReaders,
} from "../../store/tasks/webhook-deliveries.ts";
import { enabledWebhooks } from "../../store/tasks/webhooks.ts";
import { newUuid } from "../new-uuid.ts";
import { describeEvents, placeAfter, ROWS } from "./event-pages.ts";

const LOOK_MS = 1_000;
/** Where no team has a webhook. */
const IDLE_MS = 5_000;
/** Teams that are looked at together. */
const TEAMS = 100;
/** What may wait for a receiver that fails. Of what comes beyond it is not told. */
const MOST_WAITING = 10_000;

export interface WebhookFanOut {
  /** Makes deliveries of what has happened since. Returns how long to nap. */
  workOnce(): Promise<number>;
}

/**
 * Makes deliveries of the events of teams that have webhooks. Every node does: how far a team's events have been read moves in
 * the statement that stores the deliveries, so each event is delivered to each webhook once, by whichever node came first.
 */
export function createWebhookFanOut(deps: {
  readonly sql: Sql;
  /** What is sent. */
  readonly inWords: (event: BellhopEvent) => string;
  readonly onStored: () => void;
}): WebhookFanOut {
  const { sql } = deps;

  /** True if there is more to read at once. */
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
