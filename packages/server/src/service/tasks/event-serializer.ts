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

/** The wire format of events. */
export interface EventWords {
  /** The first message of a stream, with the id to resume after. */
  ready(id: string): string;
  event(event: BellhopEvent): string;
  /** Says that events may be missing, with the id to resume after. */
  reset(id: string): string;
}

/** The read request of a team's streams. */
export interface Question {
  readonly teamId: number;
  /** All of them have everything before it. */
  readonly position: EventPosition;
  readonly subscriptions: readonly Subscription[];
}

/** Shared by all streams with the same filter and position. */
export interface Subscription {
  readonly filter: EventFilter;
  readonly after: EventPosition;
}

export interface Answer<Text extends string | Uint8Array = string | Uint8Array> {
  /** The serialized events per subscription; empty if there are none. */
  readonly texts: readonly Text[];
  /** The position after the read. */
  readonly position: EventPosition;
  /** There is more to read at once. */
  readonly hasMore: boolean;
}

/** Reads and serializes events. Uses only plain data, so that a separate thread can run it. */
export interface EventSerializer<Text extends string | Uint8Array = string | Uint8Array> {
  /** Answers in the order of the requests. */
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
