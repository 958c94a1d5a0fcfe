import { type EventFilter, type EventPosition, formatPosition } from "../../domain/event.ts";
import type { EventSink } from "../../domain/event-sink.ts";
import type { Wish } from "./event-teller.ts";

/** One that is open. */
export interface Stream {
  readonly teamId: number;
  readonly filter: EventFilter;
  /** Of the same for streams that want the same. */
  readonly wish: string;
  readonly sink: EventSink;
  position: EventPosition;
  isOpen: boolean;
  /** How much waited for its reader after the last look. */
  waitedBytes: number;
  /** When it was last seen that its reader takes something, or has little to take. */
  movedAtMs: number;
}

export function openStream(
  teamId: number,
  filter: EventFilter,
  sink: EventSink,
  position: EventPosition,
): Stream {
  const wish = JSON.stringify(filter);
  return { teamId, filter, wish, sink, position, isOpen: true, waitedBytes: 0, movedAtMs: 0 };
}

/** For so long a reader may take nothing of much. */
const STUCK_MS = 2_000;

/** Asked at every look, also when there is no news. */
export function isStuck(stream: Stream, mostWaitingBytes: number, nowMs: number): boolean {
  const { waitingBytes } = stream.sink;
  if (waitingBytes <= mostWaitingBytes || waitingBytes < stream.waitedBytes) stream.movedAtMs = nowMs;
  return nowMs - stream.movedAtMs > STUCK_MS;
}

/** Streams that are told the same. */
export interface Group extends Wish {
  readonly streams: Stream[];
}

export function groupByWish(streams: Iterable<Stream>): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const stream of streams) {
    const key = `${formatPosition(stream.position)} ${stream.wish}`;
    const group = groups.get(key);
    if (group === undefined)
      groups.set(key, { filter: stream.filter, after: stream.position, streams: [stream] });
    else group.streams.push(stream);
  }
  return [...groups.values()];
}
