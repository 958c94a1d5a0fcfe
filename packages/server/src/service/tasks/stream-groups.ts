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
  /** Bytes unread after the last check or write. */
  waitedBytes: number;
  /** Checks in a row that found many unread bytes, none of them read since the check before. */
  stillChecks: number;
  /** Time of the first of these checks. */
  stillSinceMs: number;
}

export function openStream(
  teamId: number,
  filter: EventFilter,
  sink: EventSink,
  position: EventPosition,
): Stream {
  const filterKey = JSON.stringify(filter);
  return {
    teamId,
    filter,
    filterKey,
    sink,
    position,
    isOpen: true,
    waitedBytes: 0,
    stillChecks: 0,
    stillSinceMs: 0,
  };
}

/** A reader that reads nothing of many bytes for this long is stuck... */
const STUCK_MS = 2_000;
/** ... if so many checks have seen it: a process that was held up itself makes few, and has not let the reader read. */
const STUCK_CHECKS = 5;

/** Checked at every read, also without new events. */
export function isStuck(stream: Stream, mostWaitingBytes: number, nowMs: number): boolean {
  const { waitingBytes } = stream.sink;
  const isReading = waitingBytes <= mostWaitingBytes || waitingBytes < stream.waitedBytes;
  stream.waitedBytes = waitingBytes;
  stream.stillChecks = isReading ? 0 : stream.stillChecks + 1;
  if (stream.stillChecks <= 1) stream.stillSinceMs = nowMs;
  return stream.stillChecks >= STUCK_CHECKS && nowMs - stream.stillSinceMs > STUCK_MS;
}

/** A reader that reads less than it gets is slow, and not stuck. */
export function write(stream: Stream, text: string | Uint8Array): void {
  stream.sink.write(text);
  stream.waitedBytes = stream.sink.waitingBytes;
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
