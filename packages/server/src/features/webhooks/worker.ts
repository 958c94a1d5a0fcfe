import { type BellhopEvent, isWanted } from "../../domain/event.ts";
import type { Webhook } from "../../domain/webhook.ts";
import { type RoundCost, TOLD } from "../../engine/round-cost.ts";
import { newUuid } from "../../service/new-uuid.ts";
import { describeEvents, PAGE_CHARACTERS, PAGE_EVENTS, tellPage } from "../../service/tasks/event-pages.ts";
import type { Sql } from "../../store/sql.ts";
import { type EventPage, type EventPlace, readEvents } from "../../store/tasks/event-reads.ts";
import {
  advanceReader,
  countPending,
  type DeliverableEvent,
  webhookReaders,
} from "../../store/tasks/webhook-deliveries.ts";
import { enabledWebhooks } from "./store.ts";

const LOOK_MS = 1_000;
/** Interval while no team has a webhook. */
const IDLE_MS = 5_000;
/** Teams per read. */
const TEAMS = 100;
/** Characters that a delivery adds to the statement that stores it. */
const DELIVERY_CHARACTERS = 256;
/** A portion ends with the event that uses up its characters: at the worst that has the longest body, for every webhook. */
export const FAN_OUT_COST: RoundCost = {
  rows: PAGE_EVENTS + PAGE_CHARACTERS / DELIVERY_CHARACTERS,
  bytes: PAGE_EVENTS * TOLD,
  per: "team",
  turns: "each",
};
/** Maximum pending events for a failing receiver. Further ones are dropped. */
const MOST_WAITING = 10_000;
/** They are counted this often, not for every portion: a count walks over the deliveries of a week. */
const COUNT_MS = 1_000;
const MOST_KNOWN = 10_000;

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
  readonly monotonicMs: () => number;
}): WebhookFanOut {
  const { sql } = deps;
  /** By failing webhook: how many more events may wait for it, and when they are counted again. */
  const rooms = new Map<string, { left: number; readonly untilMs: number }>();

  /** True if there is more to read. */
  async function workFor(place: EventPlace, page: EventPage): Promise<boolean> {
    const described = await describeEvents(sql, place.teamId, page);
    const webhooks = await listening(place.teamId);
    const events: DeliverableEvent[] = [];
    let characters = 0;
    const { position, hasMore } = tellPage(described, PAGE_CHARACTERS, (event) => {
      const wanted = webhooks.filter((webhook) => wants(webhook, event));
      if (wanted.length === 0) return characters;
      for (const { id } of wanted) {
        const room = rooms.get(id);
        if (room !== undefined) room.left -= 1;
      }
      const deliveries = wanted.map(({ id }) => ({ id: newUuid(), webhookId: id }));
      const body = deps.inWords(event);
      events.push({ event: event.type, body, deliveries });
      characters += body.length + wanted.length * DELIVERY_CHARACTERS;
      return characters;
    });
    await advanceReader(sql, place, position, events);
    if (events.length > 0) deps.onStored();
    return hasMore;
  }

  async function listening(teamId: number): Promise<Webhook[]> {
    const webhooks = await enabledWebhooks(sql, teamId);
    const kept: Webhook[] = [];
    for (const webhook of webhooks)
      if (webhook.failingSince === null || (await hasRoom(webhook))) kept.push(webhook);
    return kept;
  }

  async function hasRoom({ teamId, id }: Webhook): Promise<boolean> {
    const nowMs = deps.monotonicMs();
    const known = rooms.get(id);
    if (known !== undefined && nowMs < known.untilMs) return known.left > 0;
    const left = MOST_WAITING - (await countPending(sql, teamId, id, MOST_WAITING));
    if (rooms.size >= MOST_KNOWN) rooms.clear();
    rooms.set(id, { left, untilMs: nowMs + COUNT_MS });
    return left > 0;
  }

  return {
    async workOnce() {
      const places = await webhookReaders(sql);
      let hasMore = false;
      for (let first = 0; first < places.length; first += TEAMS) {
        const asked = places.slice(first, first + TEAMS);
        const { pages } = await readEvents(sql, asked, PAGE_EVENTS);
        for (const [index, place] of asked.entries()) {
          const page = pages[index];
          if (page !== undefined && page.rows.length > 0) hasMore = (await workFor(place, page)) || hasMore;
        }
      }
      return hasMore ? 0 : places.length === 0 ? IDLE_MS : LOOK_MS;
    },
  };
}

function wants({ events: types, queue, tag, createdAt }: Webhook, event: BellhopEvent): boolean {
  return event.at >= createdAt && isWanted(event, { sandbox: false, types, queue, tag });
}
