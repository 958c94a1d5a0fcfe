import type { History, Seen, TaskRecord } from "./history.ts";
import { isEnd } from "./rows.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** What a target answers to one attempt of a task: no other attempt, and no other task, is answered the same. */
export function answerTo(nonce: string, attempt: number): string {
  return `${nonce}#${attempt}`;
}

/**
 * Every task has a nonce. Whatever carries it from the request to the record, the payload and what is told of the task,
 * carries that one; and the result is what was answered to this task's last attempt, its last poll or its callback.
 */
export function checkValues({ readers, receivers, rest }: History, stories: Stories): Violation[] {
  const told = new Map<string, Carrier[]>();
  for (const { type, taskId, nonces, at } of [...readers, ...receivers].flatMap(carriersOf)) {
    if (taskId === null) continue;
    const known = told.get(taskId) ?? [];
    known.push({ what: `an event ${type}`, nonces, at });
    told.set(taskId, known);
  }
  const records = new Map(rest.records.map((record) => [record.id, record]));
  return stories.all.flatMap((story) => {
    const record = records.get(story.id);
    const carriers = [...carried(story, record, rest.at), ...(told.get(story.id) ?? [])];
    return [...checkNonces(story, carriers), ...checkResults(story, record, rest.at)];
  });
}

/** A callback that was answered 200 has ended its task: no other can. */
export function checkCallbacks(stories: Stories): Violation[] {
  return stories.all.flatMap(({ id, answers }): Violation[] => {
    const accepted = answers.filter(({ action, status }) => action === "callback" && status === 200);
    const second = accepted[1];
    if (second === undefined) return [];
    const text = `${accepted.length} callbacks were answered 200`;
    return [{ promise: "callbacks", text, taskId: id, at: second.endedAt }];
  });
}

interface Carrier {
  readonly what: string;
  readonly nonces: readonly string[];
  readonly at: number;
}

type Told = Omit<Carrier, "what"> & { readonly type: string; readonly taskId: string | null };

function carriersOf(witness: History["readers"][number] | History["receivers"][number]): readonly Told[] {
  return "told" in witness ? witness.told : witness.received;
}

function carried({ calls, notifications }: Story, record: TaskRecord | undefined, restAt: number): Carrier[] {
  return [
    ...calls.map(({ attempt, nonces, begunAt }) => ({
      what: `the call of attempt ${attempt}`,
      nonces,
      at: begunAt,
    })),
    ...notifications.map(({ nonces, begunAt }) => ({ what: "its notification", nonces, at: begunAt })),
    ...(record === undefined ? [] : [{ what: "its record", nonces: record.nonces, at: restAt }]),
  ];
}

/** The one that its creation was answered with; of a task whose creation nobody saw answered, the first that was seen. */
function nonceOf(story: Story, carriers: readonly Carrier[]): string | null {
  const created = story.answers.find(({ action, carried }) => action === "create" && carried !== null);
  return created?.carried ?? carriers.find(({ nonces }) => nonces.length > 0)?.nonces[0] ?? null;
}

function checkNonces(story: Story, carriers: readonly Carrier[]): Violation[] {
  const own = nonceOf(story, carriers);
  return carriers.flatMap(({ what, nonces, at }): Violation[] => {
    const wrong = nonces.find((nonce) => nonce !== own);
    if (wrong === undefined) return [];
    const text = `${what} carries ${wrong === "" ? "no nonce" : `the nonce ${wrong}`}, and the task's is ${own}`;
    return [{ promise: "values", text, taskId: story.id, at }];
  });
}

function checkResults(story: Story, record: TaskRecord | undefined, restAt: number): Violation[] {
  const violation = (text: string, at: number): Violation => ({
    promise: "values",
    text,
    taskId: story.id,
    at,
  });
  const end = story.changes.findLastIndex(({ row }, index) => {
    const before = story.changes[index - 1];
    return isEnd(row.status) && before !== undefined && !isEnd(before.row.status);
  });
  const own = nonceOf(story, carried(story, record, restAt));
  if (record === undefined || end < 1 || own === null || !isEnd(record.status)) return [];
  const allowed = resultsOf(story, end, own);
  const wrong = allowed.includes(record.value)
    ? []
    : [violation(`its result is ${record.value}, and should be ${allowed.join(" or ")}`, restAt)];
  const told = story.notifications.flatMap(({ value, begunAt }) =>
    isOwn(value, own, story) ? [] : [violation(`its notification has the result ${value}`, begunAt)],
  );
  return [...wrong, ...told];
}

/** The results that a task may have that ended with this change. */
function resultsOf(story: Story, end: number, nonce: string): (string | null)[] {
  const [before, after] = [story.changes[end - 1]?.row, story.changes[end]?.row];
  if (before === undefined || after === undefined) return [];
  if (after.status === "cancelled") return [null];
  const isCompleted = after.status === "completed";
  if (before.status === "active") {
    const answered = answerTo(nonce, before.attemptCount);
    const wasAnswered = story.calls.some(
      ({ attempt, status }) => attempt === before.attemptCount && status !== null,
    );
    return isCompleted ? [answered] : wasAnswered ? [answered, null] : [null];
  }
  const said = isCompleted ? "done" : "failed";
  const polled = story.polls.filter(({ says }) => says === said).map(({ value }) => value);
  return isCompleted ? [...acceptedCallbacks(story), ...polled] : [...polled, null];
}

/** The one that was answered 200; where none was, those that may have counted all the same. */
function acceptedCallbacks({ answers }: Story): (string | null)[] {
  const callbacks = answers.filter(({ action }) => action === "callback");
  const accepted = callbacks.filter(({ status }) => status === 200);
  const possible = callbacks.filter(({ status }) => status === null || status >= 500);
  return (accepted.length > 0 ? accepted : possible).map(({ carried: value }) => value);
}

/** Of this task, whatever the attempt: a notification may come after a retry has begun. */
function isOwn(value: string | null, nonce: string, { polls, answers }: Story): boolean {
  return (
    value === null ||
    value.startsWith(`${nonce}#`) ||
    polls.some((poll: Seen) => poll.value === value) ||
    answers.some(({ action, carried: sent }) => action === "callback" && sent === value)
  );
}
