import { type EventFilter, type EventPosition, formatPosition } from "../../domain/event.ts";
import type { EventSink } from "../../domain/event-sink.ts";
import type { Subscription } from "./event-serializer.ts";

/** An open stream. */
export interface Stream {
  readonly teamId: number;
  readonly filter: EventFilter;
  /** Equal for streams with the same filter. */
  readonly filterKey: string;
  readonly sink: EventSink;
  position: EventPosition;
  isOpen: boolean;
  /** Bytes unread at the last check. */
  waitedBytes: number;
  /** When the unread bytes last shrank, or were few. */
  movedAtMs: number;
}

export function openStream(
  teamId: number,
  filter: EventFilter,
  sink: EventSink,
  position: EventPosition,
): Stream {
  const filterKey = JSON.stringify(filter);
  return { teamId, filter, filterKey, sink, position, isOpen: true, waitedBytes: 0, movedAtMs: 0 };
}

/** The time for which many unread bytes may not shrink. */
const STUCK_MS = 2_000;

/**
 * Checked at every read, also without new events. The time begins at the first check that finds many bytes: checks of a
 * busy process can be further apart than the time, and the bytes may have been written just now.
 */
export function isStuck(stream: Stream, mostWaitingBytes: number, nowMs: number): boolean {
  const { waitingBytes } = stream.sink;
  const wereFew = stream.waitedBytes <= mostWaitingBytes;
  if (waitingBytes <= mostWaitingBytes || wereFew || waitingBytes < stream.waitedBytes)
    stream.movedAtMs = nowMs;
  stream.waitedBytes = waitingBytes;
  return nowMs - stream.movedAtMs > STUCK_MS;
}

/** Streams that get the same events. */
export interface Group extends Subscription {
  readonly streams: Stream[];
}

export function groupBySubscription(streams: Iterable<Stream>): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const stream of streams) {
    const key = `${formatPosition(stream.position)} ${stream.filterKey}`;
    const group = groups.get(key);
    if (group === undefined)
      groups.set(key, { filter: stream.filter, after: stream.position, streams: [stream] });
    else group.streams.push(stream);
  }
  return [...groups.values()];
}
