import { Problem } from "../../domain/problem.ts";
import { reachOf } from "../../domain/reach.ts";
import type { NewTask } from "../../domain/task.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import { whyRefused } from "../../service/tasks/refusal.ts";
import { createGroupCommit } from "../../store/group-commit.ts";
import { type Database, type Sql, Unstorable } from "../../store/sql.ts";
import { INSERT_WEIGHT } from "../../store/tasks/submission.ts";
import { NO_WORKER } from "../../store/tasks/tallies.ts";
import { type Accepted, insertTasks } from "../../store/tasks/task-intake.ts";
import { freeMessageKeys, type MessageKey, takeMessageKeys } from "./store-message-keys.ts";

/** Messages per transaction. */
const MOST_TOGETHER = 200;
/** Beyond this many waiting messages a 503 is better than a longer queue, for a team that has its share of them. */
const MOST_WAITING = 5_000;

/** A message, and the hash of its deduplication id or content. */
export interface KeyedMessage {
  readonly task: NewTask;
  readonly key: string;
}

/** The id of the message that the key belongs to: this one's, or an earlier one's. */
export type Deduplicate = (message: KeyedMessage) => Promise<string>;

interface Stored {
  /** In the order of the messages. */
  readonly answers: readonly (string | Problem)[];
  readonly created: readonly (readonly [NewTask, Accepted])[];
}

/**
 * Stores messages with deduplication keys, in one commit with their keys: a key names a message that exists. One
 * transaction at a time on each node, for all messages that arrived during the one before: those of a batch or of a URL
 * group share a few. Teams share a transaction equally.
 */
export function createMessageDeduplication(deps: {
  readonly database: Database;
  readonly changes: Pick<TaskChanges, "created">;
}): Deduplicate {
  const group = createGroupCommit<KeyedMessage, string>({
    flush: store,
    maxItems: MOST_TOGETHER,
    weight: { of: ({ task }) => INSERT_WEIGHT.of(task), most: INSERT_WEIGHT.most },
    teamOf: ({ task }) => task.teamId,
    soon: setImmediate,
  });

  async function store(messages: readonly KeyedMessage[]): Promise<readonly (string | Problem)[]> {
    try {
      const { answers, created } = await deps.database.transaction((sql) => storeMessages(sql, messages));
      for (const [task, accepted] of created) deps.changes.created(task, accepted);
      return answers;
    } catch (error) {
      if (!(error instanceof Unstorable)) throw error;
      return storeSeparately(messages);
    }
  }

  /** Refuses only the message that the database cannot store. */
  async function storeSeparately(messages: readonly KeyedMessage[]): Promise<readonly (string | Problem)[]> {
    if (messages.length === 1)
      return [new Problem("invalid", { reason: "The message holds characters that cannot be stored" })];
    const answers: (string | Problem)[] = [];
    for (const message of messages) answers.push(...(await store([message])));
    return answers;
  }

  return (message) =>
    group.isFull(message, MOST_WAITING) ? Promise.reject(new Problem("overloaded")) : group.add(message);
}

/** Of messages with one key the first decides: the others name it, or are refused with it. */
async function storeMessages(sql: Sql, messages: readonly KeyedMessage[]): Promise<Stored> {
  const firsts = new Map<string, KeyedMessage>();
  for (const message of messages) {
    const name = nameOf(message);
    if (!firsts.has(name)) firsts.set(name, message);
  }
  const holders = new Map(
    (await takeMessageKeys(sql, [...firsts.values()].map(toKey))).map(({ teamId, sandbox, key, taskId }) => [
      `${teamId} ${sandbox} ${key}`,
      taskId,
    ]),
  );
  const isNew = (message: KeyedMessage) => holders.get(nameOf(message)) === message.task.id;
  const fresh = [...firsts.values()].filter(isNew);
  const submissions = fresh.map(({ task }) => ({ task, reservation: null }));
  const stored = fresh.length === 0 ? [] : await insertTasks(sql, submissions, NO_WORKER);
  const accepted = new Map(stored.flatMap((each) => (each === null ? [] : [[each.id, each] as const])));

  const refused = fresh.filter(({ task }) => !accepted.has(task.id));
  await freeMessageKeys(sql, refused.map(toKey));
  /** Of tasks with the same queue and flow, asked for once. */
  const reasons = new Map<string, Problem>();
  const refusals = new Map<string, Problem>();
  for (const message of refused) {
    const { teamId, sandbox, queue, flow } = message.task;
    const place = JSON.stringify([teamId, sandbox, queue, flow?.key]);
    const reason = reasons.get(place) ?? (await whyRefused(sql, reachOf(teamId, sandbox), message.task));
    reasons.set(place, reason);
    refusals.set(nameOf(message), reason);
  }
  return {
    answers: messages.map((message) => {
      const holder = refusals.get(nameOf(message)) ?? holders.get(nameOf(message));
      if (holder === undefined) throw new Error("A deduplication key was neither taken nor found");
      return holder;
    }),
    created: fresh.flatMap(({ task }) => {
      const row = accepted.get(task.id);
      return row === undefined ? [] : [[task, row] as const];
    }),
  };
}

function toKey({ task: { teamId, sandbox, id }, key }: KeyedMessage): MessageKey {
  return { teamId, sandbox, key, taskId: id };
}

function nameOf({ task: { teamId, sandbox }, key }: KeyedMessage): string {
  return `${teamId} ${sandbox} ${key}`;
}
