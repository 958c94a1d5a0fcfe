import { type BellhopEvent, formatPosition } from "../../domain/event.ts";
import { publicTaskId } from "../../domain/task-id.ts";
import type { EventWords } from "../../service/tasks/event-serializer.ts";
import { queueView } from "./queue-view.ts";
import { toldText } from "./task-view.ts";

/** The `data` of an event. */
export function eventDataText(event: BellhopEvent): string {
  if ("settings" in event) return JSON.stringify({ queue: queueView(event.settings) });
  if ("host" in event) return JSON.stringify({ queue: event.queue, host: event.host });
  if ("task" in event) return `{"task":${toldText(event)}}`;
  const { queue, status } = event.gone;
  return JSON.stringify({ task: { id: publicTaskId(event.gone), queue, status } });
}

/** The body of a webhook delivery. */
export function webhookText(event: BellhopEvent): string {
  const head = JSON.stringify({ type: event.type, timestamp: event.at.toISOString() });
  return `${head.slice(0, -1)},"data":${eventDataText(event)}}`;
}

/** Server-sent events. JSON contains no raw line breaks, so each is one line of data. */
export const SERVER_SENT: EventWords = {
  ready: (id) => `id: ${id}\nevent: ready\ndata: {}\n\n`,
  event: (event) =>
    `id: ${formatPosition(event.position)}\nevent: ${event.type}\ndata: ${eventDataText(event)}\n\n`,
  reset: (id) => `id: ${id}\nevent: reset\ndata: {}\n\n`,
};

/** A keepalive; an id without data is not an event, and lets a reader with few events resume. */
export function heartbeatText(lastId: string): string {
  return `: still here\nid: ${lastId}\n\n`;
}
