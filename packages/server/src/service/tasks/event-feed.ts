import {
  comparePositions,
  EVENT_HOURS,
  type EventFilter,
  type EventPosition,
  formatPosition,
  isWanted,
  parsePosition,
} from "../../domain/event.ts";
import type { EventSink } from "../../domain/event-sink.ts";
import type { Time, Timer } from "../../domain/time.ts";
import type { Sql } from "../../store/sql.ts";
import { listenTo, readEvents } from "../../store/tasks/event-reads.ts";
import { createEventPages, PAGE_CHARACTERS, tellPage } from "./event-pages.ts";
import type { EventSerializer, EventWords } from "./event-serializer.ts";
import { type Group, groupBySubscription, isStuck, openStream, type Stream, write } from "./stream-groups.ts";
import { createStreamPlaces, type StreamOwner } from "./stream-places.ts";
import { untilSeen } from "./until-seen.ts";

/*
 * The streams of this node. One read gets the new events of all teams with a stream here, and each event is serialized
 * once for all its streams. A stream that is behind, because it reconnected, reads separately at its reader's speed
 * until it reaches the shared position; it joins in the same turn of the event loop, so that it misses nothing. The
 * feed never waits for a reader: a slow one is disconnected.
 */

/** Changes of other nodes are found by polling. */
const LOOK_MS = 500;
/** Changes of this node are read sooner, but not after every task. */
const NOTICE_MS = 100;
/** After a read of this size the next is delayed: fewer tasks span two reads and are read twice. */
const BUSY_BYTES = 65_536;
const BUSY_MS = 200;
/** A sixth of the time for which a subscription is valid. */
const RENEW_MS = 600_000;
/** An id after which no stream can resume. */
const NOWHERE = formatPosition(startOf("0", 0));

export interface EventStream {
  /** The id after which a reader that disconnects now should resume. */
  readonly lastId: string;
  close(): void;
}

export interface EventFeed {
  /**
   * Refuses if there are too many streams. `lastId` is the reader's last id; null for new events only. Writes `ready`
   * first, and resolves once no later event can be missed.
   */
  open(owner: StreamOwner, filter: EventFilter, lastId: string | null, sink: EventSink): Promise<EventStream>;
  /** An event may have been stored on this node. */
  notice(): void;
  readonly count: number;
}

/** When a team's subscription began, and the start position of new readers. */
interface Beginning {
  readonly since: string;
  readonly horizon: EventPosition;
  /** No stream was told of anything beyond it. */
  readonly end: EventPosition;
}

/** A team with streams on this node. */
interface Reading {
  position: EventPosition;
  readonly since: string;
  readonly streams: Set<Stream>;
}

export function createEventFeed(deps: {
  readonly sql: Sql;
  readonly time: Time;
  readonly words: EventWords;
  readonly serializer: EventSerializer;
  /** Slow: its reader did not keep up. Failed: missed events could not be read. */
  readonly onCut?: (reason: "slow" | "failed") => void;
}): EventFeed {
  const { sql, time, words, serializer } = deps;
  const readings = new Map<number, Reading>();
  const places = createStreamPlaces();
  const beginnings = new Map<number, Promise<Beginning>>();
  const pages = createEventPages(sql);
  let nextLook: { readonly timer: Timer; readonly atMs: number } | null = null;
  let isLooking = false;
  let wasNoticed = false;
  let noticeMs = NOTICE_MS;
  let renewAtMs = 0;

  function lookWithin(ms: number): void {
    const atMs = time.monotonicMs() + ms;
    if (isLooking || readings.size === 0 || (nextLook !== null && nextLook.atMs <= atMs)) return;
    nextLook?.timer.cancel();
    nextLook = { timer: time.setTimer(() => void look(), ms), atMs };
  }

  async function look(): Promise<void> {
    nextLook = null;
    if (readings.size === 0) return;
    isLooking = true;
    wasNoticed = false;
    let hasMore = false;
    try {
      if (time.monotonicMs() >= renewAtMs) await renew();
      hasMore = await readOnce();
    } catch {
      // An unreachable database only costs time: the next read tries again.
    }
    isLooking = false;
    lookWithin(hasMore ? 0 : wasNoticed ? noticeMs : LOOK_MS);
  }

  /** A team whose subscription lapsed may have missed events: its readers must reconnect to learn that. */
  async function renew(): Promise<void> {
    for (const { teamId, since } of await listenTo(sql, [...readings.keys()])) {
      const reading = readings.get(teamId);
      if (reading === undefined || reading.since === since) continue;
      for (const { sink } of [...reading.streams]) sink.end();
    }
    renewAtMs = time.monotonicMs() + RENEW_MS;
  }

  /** True if there is more to read. */
  async function readOnce(): Promise<boolean> {
    const asked = [...readings].map(([teamId, { position, streams }]) => ({
      teamId,
      position,
      groups: groupBySubscription(streams),
    }));
    const answers = await serializer.look(
      asked.map(({ teamId, position, groups }) => ({
        teamId,
        position,
        subscriptions: groups.map(({ filter, after }) => ({ filter, after })),
      })),
    );
    let hasMore = false;
    noticeMs = answers.some(({ texts }) => texts.some(({ length }) => length > BUSY_BYTES))
      ? BUSY_MS
      : NOTICE_MS;
    for (const [index, { teamId, position, groups }] of asked.entries()) {
      const [answer, reading] = [answers[index], readings.get(teamId)];
      if (answer === undefined || reading?.position !== position) continue;
      reading.position = answer.position;
      hasMore ||= answer.hasMore;
      hand(groups, answer.texts, reading);
      letCatchUp(reading);
    }
    return hasMore;
  }

  function hand(
    groups: readonly Group[],
    texts: readonly (string | Uint8Array)[],
    { streams, position }: Reading,
  ): void {
    for (const [index, group] of groups.entries()) {
      const text = texts[index] ?? "";
      for (const stream of group.streams) {
        if (!streams.has(stream)) continue;
        if (isStuck(stream, places.mostWaitingBytes, time.monotonicMs())) {
          cut(stream.sink, "slow");
          continue;
        }
        if (comparePositions(position, stream.position) > 0) stream.position = position;
        if (text.length > 0) write(stream, text);
      }
    }
  }

  /** Streams that opened during the read and have not got its events. */
  function letCatchUp(reading: Reading): void {
    for (const stream of reading.streams) {
      if (comparePositions(stream.position, reading.position) >= 0) continue;
      reading.streams.delete(stream);
      catchUp(stream, reading.since).catch(() => cut(stream.sink, "failed"));
    }
  }

  function cut(sink: EventSink, reason: "slow" | "failed"): void {
    sink.cut();
    deps.onCut?.(reason);
  }

  /** Queried once for all streams of a team that open meanwhile: a thousand would wait for one row. */
  function begin(teamId: number): Promise<Beginning> {
    const begun = beginnings.get(teamId) ?? beginListening(teamId).finally(() => beginnings.delete(teamId));
    beginnings.set(teamId, begun);
    return begun;
  }

  async function beginListening(teamId: number): Promise<Beginning> {
    const [listener] = await listenTo(sql, [teamId]);
    const since = listener?.since ?? "0";
    await untilSeen(sql, time, since);
    const { horizon, end } = await readEvents(sql, [], 0);
    // An open transaction may hold the horizon before the subscription, where events may be missing.
    const start = startOf(since, horizon.atMs);
    return { since, horizon: comparePositions(start, horizon) > 0 ? start : horizon, end };
  }

  /** Reads for one stream until it reaches the shared position, and joins. */
  async function catchUp(stream: Stream, since: string): Promise<void> {
    const { teamId, sink, filter } = stream;
    for (let hasJoined = false; stream.isOpen && !hasJoined; ) {
      const page = await pages.read(teamId, stream.position);
      let text = "";
      const { position, hasMore } = tellPage(page, PAGE_CHARACTERS, (event) => {
        if (isWanted(event, filter)) text += words.event(event);
        return text.length;
      });
      stream.position = position;
      if (text !== "" && stream.isOpen) sink.write(text);
      await sink.drained();
      const reading = readingOf(teamId, since, position);
      if (hasMore || !stream.isOpen || comparePositions(reading.position, position) > 0) continue;
      join(stream, reading);
      hasJoined = true;
    }
  }

  function readingOf(teamId: number, since: string, position: EventPosition): Reading {
    return readings.get(teamId) ?? { position, since, streams: new Set() };
  }

  function join(stream: Stream, reading: Reading): void {
    if (comparePositions(reading.position, stream.position) > 0) stream.position = reading.position;
    stream.stillChecks = 0;
    reading.streams.add(stream);
    readings.set(stream.teamId, reading);
    lookWithin(LOOK_MS);
  }

  return {
    async open(owner, filter, lastId, sink) {
      const leave = places.take(owner);
      const { teamId } = owner;
      const stream = openStream(teamId, filter, sink, startOf("0", 0));
      const close = () => {
        if (!stream.isOpen) return;
        stream.isOpen = false;
        leave();
        const reading = readings.get(teamId);
        reading?.streams.delete(stream);
        if (reading?.streams.size === 0) readings.delete(teamId);
      };
      try {
        // If other streams of the team are live, this one joins them.
        const known = lastId === null ? readings.get(teamId) : undefined;
        let beginning =
          known === undefined
            ? await begin(teamId)
            : { since: known.since, horizon: known.position, end: known.position };
        const last = lastId === null ? null : parsePosition(lastId);
        // A question that was asked for an earlier stream may have been answered before this id was given out.
        if (last !== null && comparePositions(last, beginning.end) > 0) beginning = await begin(teamId);
        if (last !== null && isComplete(last, beginning)) {
          stream.position = last;
          sink.write(words.ready(formatPosition(last)));
          // Not awaited: a reader that was away for long has much to read.
          catchUp(stream, beginning.since).catch(() => cut(sink, "failed"));
        } else {
          join(stream, readingOf(teamId, beginning.since, beginning.horizon));
          const id = formatPosition(stream.position);
          // A reader that is disconnected before it read the reset must get it on its return.
          sink.write(lastId === null ? words.ready(id) : words.ready(NOWHERE) + words.reset(id));
        }
      } catch (error) {
        close();
        throw error;
      }
      return {
        get lastId() {
          return formatPosition(stream.position);
        },
        close,
      };
    },
    notice() {
      if (readings.size === 0) return;
      wasNoticed = true;
      lookWithin(noticeMs);
    },
    get count() {
      return places.taken;
    },
  };
}

/** Whether all later events can be read. Ids beyond the end come from a database before it was restored from a copy. */
function isComplete(last: EventPosition, { since, end }: Beginning): boolean {
  const isKept = last.atMs > end.atMs - EVENT_HOURS * 3_600_000;
  return isKept && comparePositions(last, startOf(since, 0)) >= 0 && comparePositions(last, end) <= 0;
}

/** Before everything that this transaction and later ones have written. */
function startOf(xid: string, atMs: number): EventPosition {
  return { xid, seq: "0", index: 0, atMs };
}
