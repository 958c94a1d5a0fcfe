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
import { createEventPages } from "./event-pages.ts";
import type { EventSerializer, EventWords } from "./event-serializer.ts";
import { type Group, groupBySubscription, isStuck, openStream, type Stream } from "./stream-groups.ts";
import { createStreamPlaces, type StreamOwner } from "./stream-places.ts";

/*
 * The streams of this node. One look reads what is new for all teams that have a stream here, and each event is put into
 * words once, however many streams it goes to. A stream that is behind, because it was broken off, reads for itself, as
 * fast as its reader takes it, until it has come to where the look is; it joins in the same turn of the event loop in which it
 * has seen that, so that nothing lies between. Nothing waits here for a reader: one that does not keep up is cut.
 */

/** What other nodes do is seen by looking. */
const LOOK_MS = 500;
/** What this node does is seen sooner, but not after every task. */
const NOTICE_MS = 100;
/** After a look that found this much the next comes later: fewer tasks lie on both sides of one, and are read twice. */
const BUSY_BYTES = 65_536;
const BUSY_MS = 200;
/** A sixth of the time for which a team counts as listened to. */
const RENEW_MS = 600_000;
/** An id after which no stream can resume. */
const NOWHERE = formatPosition(startOf("0", 0));

export interface EventStream {
  /** Where a reader that loses the connection now should go on, as an id. */
  readonly lastId: string;
  close(): void;
}

export interface EventFeed {
  /**
   * Refuses when there are too many streams. `lastId` is what the reader saw last; null for what happens from now on.
   * Writes `ready` first, and resolves once nothing that happens from then on can be missed.
   */
  open(owner: StreamOwner, filter: EventFilter, lastId: string | null, sink: EventSink): Promise<EventStream>;
  /** Something happened on this node that may have been written down. */
  notice(): void;
  readonly count: number;
}

/** Since when a team is listened to, and where those begin that want what happens from now on. */
interface Beginning {
  readonly since: string;
  readonly horizon: EventPosition;
}

/** A team that has streams here. */
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
  /** Slow: its reader did not keep up. Failed: what it had missed could not be read. */
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
      // A database that is away costs time only: the next look tries again.
    }
    isLooking = false;
    lookWithin(hasMore ? 0 : wasNoticed ? noticeMs : LOOK_MS);
  }

  /** A team that was not listened to for a while may have missed something: its readers have to be told, by coming again. */
  async function renew(): Promise<void> {
    for (const { teamId, since } of await listenTo(sql, [...readings.keys()])) {
      const reading = readings.get(teamId);
      if (reading === undefined || reading.since === since) continue;
      for (const { sink } of [...reading.streams]) sink.end();
    }
    renewAtMs = time.monotonicMs() + RENEW_MS;
  }

  /** True if there is more to read at once. */
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
        if (text.length > 0) stream.sink.write(text);
      }
    }
  }

  /** Those that came while the others were asked for, and have not been told what was read for them. */
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

  /** Asked once for all streams of a team that open meanwhile: a thousand would wait for one row. */
  function begin(teamId: number): Promise<Beginning> {
    const begun = beginnings.get(teamId) ?? beginListening(teamId).finally(() => beginnings.delete(teamId));
    beginnings.set(teamId, begun);
    return begun;
  }

  async function beginListening(teamId: number): Promise<Beginning> {
    const [listener] = await listenTo(sql, [teamId]);
    const { horizon } = await readEvents(sql, [], 0);
    const since = listener?.since ?? "0";
    // An open transaction may hold the horizon back to before the listening, of which events may be missing.
    const start = startOf(since, horizon.atMs);
    return { since, horizon: comparePositions(start, horizon) > 0 ? start : horizon };
  }

  /** Reads for one stream until it is where the look is, and joins. */
  async function catchUp(stream: Stream, since: string): Promise<void> {
    const { teamId, sink, filter } = stream;
    for (let hasJoined = false; stream.isOpen && !hasJoined; ) {
      const { events, position, isLast } = await pages.read(teamId, stream.position);
      const text = events
        .filter((event) => isWanted(event, filter))
        .map(words.event)
        .join("");
      stream.position = position;
      if (text !== "" && stream.isOpen) sink.write(text);
      await sink.drained();
      const reading = readingOf(teamId, { since, horizon: position });
      if (!isLast || !stream.isOpen || comparePositions(reading.position, position) > 0) continue;
      join(stream, reading);
      hasJoined = true;
    }
  }

  function readingOf(teamId: number, { since, horizon }: Beginning): Reading {
    return readings.get(teamId) ?? { position: horizon, since, streams: new Set() };
  }

  function join(stream: Stream, reading: Reading): void {
    if (comparePositions(reading.position, stream.position) > 0) stream.position = reading.position;
    stream.movedAtMs = time.monotonicMs();
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
        // Where others of the team are told from now on, so is this one.
        const known = lastId === null ? readings.get(teamId) : undefined;
        let beginning =
          known === undefined ? await begin(teamId) : { since: known.since, horizon: known.position };
        const last = lastId === null ? null : parsePosition(lastId);
        // A question that was asked for an earlier stream may have been answered before this id was given out.
        if (last !== null && comparePositions(last, beginning.horizon) > 0) beginning = await begin(teamId);
        if (last !== null && isComplete(last, beginning)) {
          stream.position = last;
          sink.write(words.ready(formatPosition(last)));
          // Not waited for: a reader that was away for long has much to read before it has caught up.
          catchUp(stream, beginning.since).catch(() => cut(sink, "failed"));
        } else {
          join(stream, readingOf(teamId, beginning));
          const id = formatPosition(stream.position);
          // One that is cut before it has read the reset must be told of it when it comes back.
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

/** All that has happened since can be read. Ids beyond the horizon are of a database before it was restored from a copy. */
function isComplete(last: EventPosition, { since, horizon }: Beginning): boolean {
  const isKept = last.atMs > horizon.atMs - EVENT_HOURS * 3_600_000;
  return isKept && comparePositions(last, startOf(since, 0)) >= 0 && comparePositions(last, horizon) <= 0;
}

/** Before everything that a transaction and those after it have written. */
function startOf(xid: string, atMs: number): EventPosition {
  return { xid, seq: "0", index: 0, atMs };
}
