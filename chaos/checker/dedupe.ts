import type { Answer, History, Joins, Seen } from "./history.ts";
import type { TaskChange, TaskRow } from "./rows.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** Times of the database and of clients are of one clock, each rounded in its own way. */
const CLOCK_MS = 1;

/** An answered request with a deduplication key. */
interface Request extends Answer {
  readonly joins: Joins;
  readonly taskId: string;
}

/** The deduplication keys of requests, by the rows of the tasks, by what clients were told, and by the calls. */
export function checkDedupeKeys(history: History, stories: Stories): Violation[] {
  const requests = history.answers.flatMap((answer): Request[] => {
    const { joins, taskId, status } = answer;
    const isGood = status === 200 || status === 201;
    return joins === undefined || taskId === null || !isGood ? [] : [{ ...answer, joins, taskId }];
  });
  return [
    ...checkTasks(history),
    ...history.answers.flatMap((answer) => checkRefusal(answer, history)),
    ...requests.flatMap((request) => checkAnswer(request, stories.find(request.taskId))),
    ...checkRepeats(requests, stories),
    ...stories.all.flatMap((story) => [
      ...checkNewest(
        requests.filter(({ taskId }) => taskId === story.id),
        story,
      ),
      ...story.calls.flatMap((call) => checkCall(call, requests, story)),
    ]),
  ];
}

/** The last task that was created under a key. */
interface Holder {
  row: TaskRow;
  /** Since when it has been pending without an attempt; null: it is not. A new task is so from the start. */
  untouchedFrom: number | null;
}

/** By the rows: no second task while the key is taken, and nothing but a task that was not called yet is replaced. */
function checkTasks({ changes }: History): Violation[] {
  const holders = new Map<string, Holder>();
  const rows = new Map<string, TaskRow>();
  return [...changes]
    .sort((one, other) => one.seq - other.seq)
    .flatMap((change): Violation[] => {
      if (change.relation !== "tasks" || change.row.dedupe == null) return [];
      const { row, op, committedAt: at } = change;
      const name = `${row.teamId} ${row.dedupe?.key}`;
      const holder = holders.get(name);
      const before = rows.get(row.id);
      rows.set(row.id, row);
      const isReplaced = op === "update" && before?.dedupe?.request !== row.dedupe?.request;
      const why = isReplaced ? whyNotReplaced(change, holder) : null;
      const text = op === "insert" ? whySecond(row, holder) : why;
      if (op === "insert") holders.set(name, { row, untouchedFrom: 0 });
      else if (holder?.row.id === row.id && op === "delete") holders.delete(name);
      else if (holder?.row.id === row.id) {
        const isFresh = holder.untouchedFrom !== null;
        holders.set(name, {
          row,
          untouchedFrom: !isUntouched(row) ? null : isFresh ? holder.untouchedFrom : at,
        });
      }
      return text === null ? [] : [{ promise: "dedupe", text, taskId: row.id, at }];
    });
}

function isUntouched({ status, attemptCount }: TaskRow): boolean {
  return status === "pending" && attemptCount === 0;
}

/** `createdAt` is the time at which the request was judged. */
function whySecond({ dedupe, createdAt, runAt }: TaskRow, holder: Holder | undefined): string | null {
  if (dedupe?.mode === "debounce" && Math.abs(runAt - createdAt - dedupe.windowMs) > CLOCK_MS)
    return `it is due ${runAt - createdAt} ms after its only request, and the window has ${dedupe.windowMs}`;
  const before = holder?.row;
  if (holder === undefined || before?.dedupe == null || dedupe == null) return null;
  const age = createdAt - before.createdAt;
  const text = `it was created ${age} ms after ${before.id}, which has the same key ${dedupe.key}`;
  if (dedupe.mode === "first") return age < before.dedupe.windowMs ? text : null;
  const wasOpen = holder.untouchedFrom !== null && holder.untouchedFrom <= createdAt;
  const isOver = dedupe.mode === "replace" && age >= dedupe.windowMs;
  return wasOpen && !isOver ? `${text} and was not called yet` : null;
}

function whyNotReplaced({ row, committedAt }: TaskChange, holder: Holder | undefined): string | null {
  const { dedupe, createdAt, runAt } = row;
  if (holder?.row.id !== row.id || dedupe == null) return "it was replaced though a newer task has its key";
  if (dedupe.mode === "first") return "it was replaced though the first request of its key counts";
  if (!isUntouched(holder.row) || !isUntouched(row)) return "it was replaced though it was called before";
  const { mode, windowMs, maxWaitMs } = dedupe;
  if (mode !== "debounce") return null;
  const latest = Math.min(committedAt + windowMs, createdAt + (maxWaitMs ?? Number.POSITIVE_INFINITY));
  return runAt > latest + CLOCK_MS ? `it is due ${runAt - latest} ms later than its requests say` : null;
}

/** Every request of a key that has one mode and one queue is answered with a task. */
function checkRefusal({ joins, status, queue, taskId, at }: Answer, { answers }: History): Violation[] {
  if (joins === undefined || status === null || status < 400 || status === 503) return [];
  const isQueueGone = answers.some(({ action, queue: name }) => action === "delete-queue" && name === queue);
  if (status === 404 && (isQueueGone || joins.how !== undefined)) return [];
  const text = `a request with key ${joins.key} was answered ${status}`;
  return [{ promise: "dedupe", text, taskId, at }];
}

/** A request is joined to a task only within its window, and while that task is there and, to be replaced, was not called. */
function checkAnswer({ joins, taskId, at }: Request, { changes }: Story): Violation[] {
  const { how, key } = joins;
  const created = changes[0]?.row;
  if (how === undefined || how === "repeated" || created?.dedupe == null) return [];
  const violation = (text: string): Violation[] => [{ promise: "dedupe", text, taskId, at }];
  const age = at - created.createdAt;
  const windowMs = how === "deduplicated" ? created.dedupe.windowMs : joins.windowMs;
  if (joins.mode !== "debounce" && age >= windowMs + CLOCK_MS)
    return violation(`a request with key ${key} was joined to it ${age} ms after its creation`);
  const before = changes.findLast(({ committedAt }) => committedAt < at);
  if (before?.op === "delete") return violation(`a request with key ${key} was joined to it after its end`);
  return how === "replaced" && before !== undefined && before.row.attemptCount > 0
    ? violation(`a request with key ${key} replaced it after it had been called`)
    : [];
}

/** A request that is sent again is answered with the same task, unless that is gone. */
function checkRepeats(requests: readonly Request[], stories: Stories): Violation[] {
  const answered = new Map<string, string>();
  return requests.flatMap(({ joins, taskId, endedAt }): Violation[] => {
    const earlier = answered.get(joins.request) ?? taskId;
    answered.set(joins.request, earlier);
    if (earlier === taskId || stories.find(earlier).isDeleted) return [];
    const text = `${joins.request} was answered with it and with ${earlier}`;
    return [{ promise: "dedupe", text, taskId, at: endedAt }];
  });
}

/** The task is made of the newest request: not of one that was answered before another one was sent. */
function checkNewest(requests: readonly Request[], { last, id }: Story): Violation[] {
  const stored = last?.dedupe?.request;
  const own = requests.find(({ joins }) => joins.request === stored);
  const newer = requests.find(({ joins, at }) => joins.how === "replaced" && at > (own?.endedAt ?? at));
  if (own === undefined || newer === undefined) return [];
  const text = `it is made of ${stored}, and ${newer.joins.request} replaced it later`;
  return [{ promise: "dedupe", text, taskId: id, at: newer.endedAt }];
}

/** A call is made of the request that the task had when it was claimed; of a debounced one not before its last request says. */
function checkCall(call: Seen, requests: readonly Request[], { id, changes }: Story): Violation[] {
  const violation = (text: string): Violation[] => [
    { promise: "dedupe", text, taskId: id, at: call.begunAt },
  ];
  const claim = changes.find(({ row }) => row.status === "active" && row.attemptCount === call.attempt);
  if (claim?.row.dedupe == null) return [];
  const { request, mode, maxWaitMs } = claim.row.dedupe;
  if (call.request !== request) return violation(`it was called with ${call.request}, and has ${request}`);
  if (mode !== "debounce") return [];
  const latest = claim.row.createdAt + (maxWaitMs ?? Number.POSITIVE_INFINITY);
  const early = requests.find(
    ({ taskId, joins, at }) =>
      taskId === id &&
      joins.how !== "repeated" &&
      call.begunAt < Math.min(at + joins.windowMs, latest) - CLOCK_MS,
  );
  return early === undefined
    ? []
    : violation(`it was called ${call.begunAt - early.at} ms after ${early.joins.request} postponed it`);
}
