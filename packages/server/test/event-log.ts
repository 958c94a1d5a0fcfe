import type { EventSink } from "../src/domain/event-sink.ts";
import { readEvents } from "../src/store/tasks/event-reads.ts";
import { until } from "./patience.ts";
import type { TextSql } from "./test-sql.ts";

export interface ToldEvent {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  readonly data: any;
}

/** What a reader of server-sent events has read so far. */
export interface EventLog {
  readonly events: readonly ToldEvent[];
  /** The id to resume after. */
  readonly lastId: string;
  readonly comments: number;
  /** The ids of the events that tell that the stream is open. They are not among the others. */
  readonly readyIds: readonly string[];
  read(text: string): void;
  /** Resolves once so many have been told. */
  reaches(count: number): Promise<void>;
  names(): string[];
}

export function createEventLog(): EventLog {
  const events: ToldEvent[] = [];
  let unread = "";
  let lastId = "";
  let comments = 0;
  const readyIds: string[] = [];

  function take(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      const at = line.indexOf(":");
      if (at === 0) comments += 1;
      else fields.set(line.slice(0, at), line.slice(at + 2));
    }
    lastId = fields.get("id") ?? lastId;
    const data = fields.get("data");
    if (fields.get("event") === "ready") readyIds.push(lastId);
    else if (data !== undefined)
      events.push({ id: lastId, event: fields.get("event") ?? "", data: JSON.parse(data) });
  }

  return {
    events,
    readyIds,
    get lastId() {
      return lastId;
    },
    get comments() {
      return comments;
    },
    read(text) {
      const blocks = (unread + text).split("\n\n");
      unread = blocks.pop() ?? "";
      for (const block of blocks) take(block);
    },
    reaches: (count) =>
      until(() => events.length >= count, { what: () => `${count} events; ${events.length} were told` }),
    names: () => events.map(({ event }) => event),
  };
}

/** A reader in this process, which may say of itself that it is slow. */
export interface TestReader {
  readonly log: EventLog;
  readonly sink: EventSink;
  waitingBytes: number;
  readonly wasCut: boolean;
  readonly hasEnded: boolean;
}

export function createTestReader(): TestReader {
  const log = createEventLog();
  const reader = { log, waitingBytes: 0, wasCut: false, hasEnded: false };
  const sink: EventSink = {
    write: log.read,
    get waitingBytes() {
      return reader.waitingBytes;
    },
    drained: async () => {},
    cut() {
      reader.wasCut = true;
    },
    end() {
      reader.hasEnded = true;
    },
  };
  return Object.assign(reader, { sink });
}

/**
 * A reader gets no event before every older transaction that may write one has ended: a test that reads events once waits for this
 * first.
 */
export async function untilEventsAreReadable(sql: TextSql): Promise<void> {
  await until(async () => {
    const { horizon } = await readEvents(sql, [], 0);
    const held = "select 1 from events where (xid, seq) >= ($1::text::xid8, $2::text::bigint) limit 1";
    return (await sql.rows(held, [horizon.xid, horizon.seq])).length === 0;
  });
}
