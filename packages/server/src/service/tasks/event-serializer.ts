import {
  type BellhopEvent,
  comparePositions,
  type EventFilter,
  type EventPosition,
  isWanted,
} from "../../domain/event.ts";
import type { Sql } from "../../store/sql.ts";
import { type EventRow, readEvents } from "../../store/tasks/event-reads.ts";
import { describeEvents, placeAfter, ROWS } from "./event-pages.ts";

/** How events stand on the wire. */
export interface EventWords {
  /** Comes first on a stream, and tells where a reader that is told nothing more should resume. */
  ready(id: string): string;
  event(event: BellhopEvent): string;
  /** Tells that events may be missing, and where it goes on. */
  reset(id: string): string;
}

/** What a team's streams want to know. */
export interface Question {
  readonly teamId: number;
  /** Everything before is known to all of them. */
  readonly position: EventPosition;
  readonly subscriptions: readonly Subscription[];
}

/** The same of all streams that want the same events and have come equally far. */
export interface Subscription {
  readonly filter: EventFilter;
  readonly after: EventPosition;
}

export interface Answer<Text extends string | Uint8Array = string | Uint8Array> {
  /** For each wish the events in words; empty where there are none. */
  readonly texts: readonly Text[];
  /** How far it was read. */
  readonly position: EventPosition;
  /** There is more to read at once. */
  readonly hasMore: boolean;
}

/** Reads and serializes events. Uses only plain data, so that a separate thread can run it. */
export interface EventSerializer<Text extends string | Uint8Array = string | Uint8Array> {
  /** Answers in the order of the questions. */
  look(questions: readonly Question[]): Promise<readonly Answer<Text>[]>;
}

/** Each event is serialized once for all its subscribers. */
export function createEventSerializer(sql: Sql, words: EventWords): EventSerializer<string> {
  function write(events: readonly BellhopEvent[], subscriptions: readonly Subscription[]): string[] {
    const written: string[] = [];
    return subscriptions.map(({ filter, after }) => {
      let text = "";
      let index = -1;
      for (const event of events) {
        index += 1;
        if (!isWanted(event, filter) || comparePositions(event.position, after) <= 0) continue;
        const own = written[index] ?? words.event(event);
        written[index] = own;
        text += own;
      }
      return text;
    });
  }

  return {
    async look(questions) {
      const { rows, horizon } = await readEvents(sql, questions, ROWS);
      const byTeam = new Map<number, EventRow[]>();
      for (const row of rows) {
        const own = byTeam.get(row.teamId);
        if (own === undefined) byTeam.set(row.teamId, [row]);
        else own.push(row);
      }
      const answers: Answer<string>[] = [];
      for (const { teamId, position, subscriptions } of questions) {
        const own = byTeam.get(teamId) ?? [];
        const events = own.length === 0 ? [] : await describeEvents(sql, teamId, own, position);
        answers.push({
          texts: write(events, subscriptions),
          position: placeAfter(own, horizon, position),
          hasMore: own.length === ROWS,
        });
      }
      return answers;
    },
  };
}
