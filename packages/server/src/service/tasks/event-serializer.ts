import {
  type BellhopEvent,
  comparePositions,
  type EventFilter,
  type EventPosition,
  isWanted,
} from "../../domain/event.ts";
import type { Sql } from "../../store/sql.ts";
import { readEvents } from "../../store/tasks/event-reads.ts";
import { type DescribedPage, describeEvents, type Told, tellPage } from "./event-pages.ts";

/** Of a team per read: a separate thread serializes them, and a task whose events span two reads is read twice. */
const EVENTS = 2_000;
/** Characters of a team's texts per read. */
const CHARACTERS = 2 ** 24;

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

/** What was read, and whether there is more to read at once. */
export interface Answer<Text extends string | Uint8Array = string | Uint8Array> extends Told {
  /** The serialized events per subscription; empty if there are none. */
  readonly texts: readonly Text[];
}

/** Reads and serializes events. Uses only plain data, so that a separate thread can run it. */
export interface EventSerializer<Text extends string | Uint8Array = string | Uint8Array> {
  /** Answers in the order of the requests. */
  look(questions: readonly Question[]): Promise<readonly Answer<Text>[]>;
}

/** Each event is serialized once for all its subscribers. */
export function createEventSerializer(sql: Sql, words: EventWords): EventSerializer<string> {
  function write(page: DescribedPage, subscriptions: readonly Subscription[]): Answer<string> {
    const texts = subscriptions.map(() => "");
    let characters = 0;
    const told = tellPage(page, CHARACTERS, (event) => {
      let own: string | null = null;
      for (const [index, { filter, after }] of subscriptions.entries()) {
        if (!isWanted(event, filter) || comparePositions(event.position, after) <= 0) continue;
        own ??= words.event(event);
        texts[index] += own;
        characters += own.length;
      }
      return characters;
    });
    return { texts, ...told };
  }

  return {
    async look(questions) {
      const { pages } = await readEvents(sql, questions, EVENTS);
      const answers: Answer<string>[] = [];
      for (const [index, { teamId, subscriptions }] of questions.entries()) {
        const page = pages[index];
        if (page !== undefined) answers.push(write(await describeEvents(sql, teamId, page), subscriptions));
      }
      return answers;
    },
  };
}
