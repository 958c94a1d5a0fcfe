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

/**
 * Of all teams per look: a separate thread serializes them, the texts of a look are in memory at once, and no stream gets any of
 * them before the last is written. A task whose events span two reads is read twice.
 */
const EVENTS = 2_000;
/** Characters of the texts of a look. */
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

/** The answer to a question, as far as it has come. */
interface Answering {
  readonly question: Question;
  readonly texts: string[];
  told: Told;
}

/** What is left of a look. */
interface Left {
  events: number;
  characters: number;
}

/**
 * Each event is serialized once for all its subscribers. Teams share a look equally: first each has its share, and then those with more
 * to read share what is left.
 */
export function createEventSerializer(sql: Sql, words: EventWords): EventSerializer<string> {
  /** Returns the characters that were added. */
  function write(page: DescribedPage, answering: Answering, most: number): number {
    const { texts, question } = answering;
    const { subscriptions } = question;
    let characters = 0;
    answering.told = tellPage(page, most, (event) => {
      let own: string | null = null;
      for (const [index, { filter, after }] of subscriptions.entries()) {
        if (!isWanted(event, filter) || comparePositions(event.position, after) <= 0) continue;
        own ??= words.event(event);
        texts[index] += own;
        characters += own.length;
      }
      return characters;
    });
    return characters;
  }

  async function readShares(answerings: readonly Answering[], left: Left): Promise<void> {
    if (answerings.length === 0) return;
    const share = Math.ceil(left.events / answerings.length);
    const places = answerings.map(({ question, told }) => ({
      teamId: question.teamId,
      position: told.position,
    }));
    const { pages } = await readEvents(sql, places, share);
    for (const [index, answering] of answerings.entries()) {
      const page = pages[index];
      if (page === undefined) continue;
      const described = await describeEvents(sql, answering.question.teamId, page);
      const most = left.characters / (answerings.length - index);
      left.events -= described.events.length;
      left.characters -= write(described, answering, most);
    }
  }

  return {
    async look(questions) {
      const answerings = questions.map((question): Answering => {
        const texts = question.subscriptions.map(() => "");
        return { question, texts, told: { position: question.position, hasMore: true } };
      });
      const left = { events: EVENTS, characters: CHARACTERS };
      await readShares(answerings, left);
      const more = answerings.filter(({ told }) => told.hasMore);
      if (left.events >= more.length && left.characters > 0) await readShares(more, left);
      return answerings.map(({ texts, told }) => ({ texts, ...told }));
    },
  };
}
