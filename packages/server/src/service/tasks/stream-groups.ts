import { type EventFilter, type EventPosition, formatPosition } from "../../domain/event.ts";
import type { EventSink } from "../../domain/event-sink.ts";
import type { Subscription } from "./event-serializer.ts";

/** One that is open. */
export interface Stream {
  readonly teamId: number;
  readonly filter: EventFilter;
  /** Of the same for streams that want the same. */
  readonly filterKey: string;
  readonly sink: EventSink;
  position: EventPosition;
  isOpen: boolean;
  /** How much waited for its reader at the last look. */
  waitedBytes: number;
  /** When less was last seen to wait for its reader, or little. */
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

/** For so long what waits for a reader may be much and not become less. */
const STUCK_MS = 2_000;

/** Asked at every look, also when there is no news. */
export function isStuck(stream: Stream, mostWaitingBytes: number, nowMs: number): boolean {
  const { waitingBytes } = stream.sink;
  if (waitingBytes <= mostWaitingBytes || waitingBytes < stream.waitedBytes) stream.movedAtMs = nowMs;
  stream.waitedBytes = waitingBytes;
  return nowMs - stream.movedAtMs > STUCK_MS;
}

/** Streams that are told the same. */
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
