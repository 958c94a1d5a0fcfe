import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answer,
  attempt,
  breakerChange,
  brokenIn,
  bulkChange,
  COMPLETED,
  call,
  fault,
  firing,
  goodChanges,
  historyOf,
  life,
  PID,
  queueChange,
  row,
  scheduleChange,
  taskChange,
  workerChange,
} from "./hand-made.ts";
import type { Fault, History } from "./history.ts";
import { FLEETING } from "./retention.ts";
import type { Change, TaskRow } from "./rows.ts";
import { tellStories } from "./stories.ts";
import { drawTimeline } from "./timeline.ts";

test("a task that is created, called and completed breaks no promise", () => {
  assert.deepEqual(brokenIn(historyOf()), []);
});

test("A: an accepted task that the database does not know is lost", () => {
  assert.deepEqual(brokenIn(historyOf({ changes: [], seen: [] })), ["A"]);
  const refused = answer("create", 995, { status: 503, taskId: null });
  assert.deepEqual(
    brokenIn(historyOf({ changes: [], seen: [], answers: [refused], faults: [fault(900, 1_100)] })),
    [],
  );
});

test("A: a task may disappear only if a client deleted it or its queue", () => {
  const changes = [taskChange(1_000, {}, "insert"), taskChange(2_000, {}, "delete")];
  const created = answer("create", 995);
  assert.deepEqual(brokenIn(historyOf({ changes, seen: [] })), ["A"]);
  assert.deepEqual(
    brokenIn(historyOf({ changes, seen: [], answers: [created, answer("delete-task", 1_995)] })),
    [],
  );
  const unanswered = answer("delete-task", 1_995, { status: null, failure: "reset" });
  assert.deepEqual(brokenIn(historyOf({ changes, seen: [], answers: [created, unanswered] })), []);
  const queueGone = [queueChange(1_990, { deleted: true }), ...changes];
  const deleted = answer("delete-queue", 1_980, { taskId: null });
  assert.deepEqual(brokenIn(historyOf({ changes: queueGone, seen: [], answers: [created, deleted] })), []);
});

test("A: an answered delete or callback must have taken effect", () => {
  const kept = [answer("create", 995), answer("delete-task", 1_995)];
  assert.deepEqual(
    brokenIn(historyOf({ changes: [taskChange(1_000, {}, "insert")], seen: [], answers: kept })),
    ["A", "rest"],
  );
  const failed = {
    ...COMPLETED,
    status: "failed" as const,
    attempts: [attempt({ status: "failed", code: 500 })],
  };
  const changes = [...goodChanges().slice(0, 2), taskChange(1_200, failed)];
  const seen = [call(1_020, 1_100, { status: 500 })];
  const answers = [answer("create", 995), answer("callback", 1_300)];
  assert.deepEqual(brokenIn(historyOf({ changes, seen, answers })), ["A"]);
});

test("A: one idempotency key makes one task", () => {
  const one = goodChanges({ idempotencyKey: "k" });
  const other = goodChanges({ id: "u", idempotencyKey: "k" });
  const seen = [call(1_020, 1_100), call(1_020, 1_100, { taskId: "u" })];
  assert.deepEqual(brokenIn(historyOf({ changes: [...one, ...other], seen })), ["A"]);
  const another = goodChanges({ id: "u", idempotencyKey: "another" });
  assert.deepEqual(brokenIn(historyOf({ changes: [...one, ...another], seen })), []);
});

test("B: a task completes only by a 2xx that a target sent", () => {
  assert.deepEqual(brokenIn(historyOf({ seen: [call(1_020, 1_100, { status: null, whole: "no" })] })), ["B"]);
  assert.deepEqual(brokenIn(historyOf({ seen: [call(1_020, 1_100, { whole: "doubtful" })] })), []);
});

test("B: a waiting task completes by a callback, a polling one by a done poll", () => {
  const ways = (status: "waiting" | "polling") => [
    ...goodChanges().slice(0, 2),
    taskChange(1_200, { ...COMPLETED, status, deadlineAt: 9_000 }),
    taskChange(3_000, { ...COMPLETED, fence: 3 }),
  ];
  const created = answer("create", 995);
  assert.deepEqual(brokenIn(historyOf({ changes: ways("waiting") })), ["B"]);
  const calledBack = [created, answer("callback", 2_990)];
  assert.deepEqual(brokenIn(historyOf({ changes: ways("waiting"), answers: calledBack })), []);
  const poll = (says: string) => call(2_900, 2_950, { kind: "poll", attempt: null, says });
  const seen = (says: string) => [call(1_020, 1_100), poll(says)];
  assert.deepEqual(brokenIn(historyOf({ changes: ways("polling"), seen: seen("processing") })), ["B"]);
  assert.deepEqual(brokenIn(historyOf({ changes: ways("polling"), seen: seen("done") })), []);
});

test("C: a call may not arrive before its attempt is committed", () => {
  assert.deepEqual(brokenIn(historyOf({ seen: [call(1_002, 1_100)] })), ["C"]);
  const unknown = [call(1_020, 1_100), call(1_150, 1_160, { attempt: 2, status: 500 })];
  assert.ok(brokenIn(historyOf({ seen: unknown })).includes("C"));
});

test("D: an ended task does not change", () => {
  const again = taskChange(2_000, { ...COMPLETED, status: "failed", fence: 3 });
  assert.deepEqual(brokenIn(historyOf({ changes: [...goodChanges(), again] })), ["D"]);
  const note = taskChange(2_000, { ...COMPLETED, attempts: [attempt({ status: "superseded" })] });
  assert.deepEqual(brokenIn(historyOf({ changes: [...goodChanges(), note] })), []);
});

test("D: a task without an attempt fails only by expiry", () => {
  const ends = (failureReason: string) => [
    taskChange(1_000, { status: "pending" }, "insert"),
    taskChange(2_000, { status: "failed", fence: 1, failureReason }),
  ];
  assert.deepEqual(brokenIn(historyOf({ changes: ends("expired"), seen: [] })), []);
  assert.deepEqual(brokenIn(historyOf({ changes: ends("timeout"), seen: [] })), ["D"]);
});

const givenBack: Partial<TaskRow> = {
  fence: 2,
  attemptCount: 1,
  attempts: [attempt({ status: "interrupted", code: null, phase: "sent" })],
};
const secondAttempt: Partial<TaskRow> = {
  ...givenBack,
  status: "active",
  fence: 3,
  workerId: 1,
  attemptCount: 2,
};

/** The first attempt is interrupted, the second under way when somebody settles. */
function settledSecond(settledBy: number) {
  return [
    ...goodChanges().slice(0, 2),
    taskChange(17_000, givenBack),
    taskChange(17_010, secondAttempt),
    taskChange(18_000, {
      status: "completed",
      fence: 4,
      attemptCount: 2,
      attempts: [...(givenBack.attempts ?? []), attempt({ number: settledBy })],
    }),
  ];
}
const bothCalls = [call(1_020, 1_500, { status: null, whole: "no" }), call(17_020, 17_500, { attempt: 2 })];

test("D: a verdict counts only for the current attempt", () => {
  const faults = [fault(1_400, 3_000)];
  assert.deepEqual(brokenIn(historyOf({ changes: settledSecond(2), seen: bothCalls, faults })), []);
  assert.ok(brokenIn(historyOf({ changes: settledSecond(1), seen: bothCalls, faults })).includes("D"));
});

test("E: no call starts beyond its queue's concurrency", () => {
  const changes = [queueChange(1, { concurrency: 1 }), ...goodChanges(), ...goodChanges({ id: "u" })];
  const together = [call(1_020, 1_100), call(1_050, 1_150, { taskId: "u" })];
  assert.deepEqual(brokenIn(historyOf({ changes, seen: together })), ["E"]);
  const apart = [call(1_020, 1_049), call(1_050, 1_150, { taskId: "u" })];
  assert.deepEqual(brokenIn(historyOf({ changes, seen: apart })), []);
});

test("E: a lowered limit lets running calls end, and starts none beyond it", () => {
  const seen = [call(1_020, 1_900), call(1_030, 1_900, { taskId: "u" })];
  const tasks = [...goodChanges(), ...goodChanges({ id: "u" })].map((change) =>
    change.relation === "tasks" && change.row.status === "completed"
      ? { ...change, committedAt: 2_000 }
      : change,
  );
  const after = queueChange(1_500, { concurrency: 1 });
  assert.deepEqual(brokenIn(historyOf({ changes: [...tasks, after], seen })), []);
  const before = queueChange(900, { concurrency: 1 });
  assert.deepEqual(brokenIn(historyOf({ changes: [...tasks, before], seen })), ["E"]);
});

test("E: a call of a process that is paused past its lease is not counted", () => {
  const changes = [queueChange(1, { concurrency: 1 }), workerChange(16_000, "delete"), ...settledSecond(2)];
  const seen = [
    call(1_020, 20_050, { endedBy: "caller", status: null, whole: "no" }),
    call(17_020, 17_500, { attempt: 2 }),
  ];
  const stopped = [fault(1_100, 20_000, { kind: "pause-past-lease", paused: [PID] })];
  assert.deepEqual(brokenIn(historyOf({ changes, seen, faults: stopped })), []);
  const cutOff = [fault(1_100, 20_000, { kind: "cut-off" })];
  assert.deepEqual(brokenIn(historyOf({ changes, seen, faults: cutOff })), ["E", "twice"]);
});

test("F: a cancelled task is not called again, and its call is aborted", () => {
  const changes = [
    taskChange(1_000, {}, "insert"),
    taskChange(1_010, { status: "active", fence: 1, workerId: 1, attemptCount: 1 }),
    taskChange(2_000, {
      status: "cancelled",
      fence: 2,
      attemptCount: 1,
      attempts: [attempt({ status: "aborted", code: null, phase: "sent" })],
    }),
  ];
  const torn = call(1_020, 2_020, { status: null, whole: "no", endedBy: "caller" });
  const answers = [answer("create", 995), answer("cancel", 1_995)];
  assert.deepEqual(brokenIn(historyOf({ changes, answers, seen: [torn] })), []);
  assert.deepEqual(brokenIn(historyOf({ changes, answers, seen: [{ ...torn, endedAt: 9_000 }] })), ["F"]);
  assert.deepEqual(
    brokenIn(historyOf({ changes, answers, seen: [{ ...torn, begunAt: 2_100, endedAt: 2_200 }] })),
    ["F"],
  );
  assert.deepEqual(brokenIn(historyOf({ changes, answers: [answer("create", 995)], seen: [torn] })), ["A"]);
  const kept = goodChanges();
  assert.deepEqual(
    brokenIn(historyOf({ changes: kept, answers: [answer("create", 995), answer("cancel", 990)] })),
    ["A"],
  );
});

test("F: a task is not called after its DELETE was answered", () => {
  const changes = [
    ...goodChanges().slice(0, 2),
    taskChange(1_500, { ...givenBack, attempts: [attempt({ status: "failed", code: 500 })] }),
    taskChange(2_000, { ...givenBack, attempts: [attempt({ status: "failed", code: 500 })] }, "delete"),
  ];
  const answers = [answer("create", 995), answer("delete-task", 1_995)];
  const good = call(1_020, 1_100, { status: 500 });
  assert.deepEqual(brokenIn(historyOf({ changes, answers, seen: [good] })), []);
  assert.deepEqual(
    brokenIn(historyOf({ changes, answers, seen: [{ ...good, begunAt: 2_330, endedAt: 2_400 }] })),
    ["F"],
  );
});

test("F: no call of a paused or deleted queue starts", () => {
  const pause = answer("pause", 100, { taskId: null });
  const resume = answer("resume", 500, { taskId: null });
  const created = answer("create", 995);
  assert.deepEqual(brokenIn(historyOf({ answers: [created, pause] })), ["F"]);
  assert.deepEqual(brokenIn(historyOf({ answers: [created, pause, resume] })), []);
  const lost = answer("resume", 20, { taskId: null, status: null });
  const resumed = [queueChange(500, { paused: false }), ...goodChanges()];
  assert.deepEqual(brokenIn(historyOf({ answers: [lost, created, pause], changes: resumed })), []);
  assert.deepEqual(brokenIn(historyOf({ answers: [lost, created, pause] })), ["F"]);
  assert.deepEqual(brokenIn(historyOf({ answers: [created, pause], changes: resumed })), ["F"]);
  const gone = [queueChange(500, { deleted: true }), ...goodChanges()];
  assert.deepEqual(brokenIn(historyOf({ changes: gone })), ["F"]);
});

test("attempts: the record has every call that was made, and no other", () => {
  const without = [...goodChanges().slice(0, 2), taskChange(1_200, { ...COMPLETED, attempts: [] })];
  assert.deepEqual(brokenIn(historyOf({ changes: without })), ["attempts"]);
  const unseen = [
    ...goodChanges().slice(0, 2),
    taskChange(1_200, {
      ...COMPLETED,
      status: "failed",
      attempts: [attempt({ status: "failed", code: 500 })],
    }),
  ];
  assert.deepEqual(brokenIn(historyOf({ changes: unseen, seen: [] })), ["attempts"]);
  const notSent = [
    ...goodChanges().slice(0, 2),
    taskChange(1_200, {
      ...COMPLETED,
      status: "failed",
      attempts: [attempt({ status: "failed", code: null, phase: "not_sent" })],
    }),
  ];
  assert.deepEqual(brokenIn(historyOf({ changes: notSent, seen: [] })), []);
  assert.deepEqual(brokenIn(historyOf({ changes: notSent })), ["attempts"]);
});

test("twice: a successful call is repeated only after a fault", () => {
  const seen = [call(1_020, 1_500), call(17_020, 17_500, { attempt: 2 })];
  const faults = [fault(1_400, 3_000)];
  assert.deepEqual(brokenIn(historyOf({ changes: settledSecond(2), seen, faults })), []);
  assert.deepEqual(brokenIn(historyOf({ changes: settledSecond(2), seen })), ["twice"]);
});

test("twice: a call that was answered after its timeout may be repeated", () => {
  const timedOut = attempt({ status: "timeout", code: null, phase: "sent" });
  const changes = [
    ...goodChanges().slice(0, 2),
    taskChange(3_000, { ...givenBack, attempts: [timedOut] }),
    taskChange(4_000, { ...secondAttempt, attempts: [timedOut] }),
    taskChange(5_000, {
      ...COMPLETED,
      fence: 4,
      attemptCount: 2,
      attempts: [timedOut, attempt({ number: 2 })],
    }),
  ];
  const seen = [call(1_020, 3_005), call(4_020, 4_100, { attempt: 2 })];
  assert.deepEqual(brokenIn(historyOf({ changes, seen })), []);
});

test("twice: attempts arrive once each, in order and without overlap", () => {
  const faults = [fault(1_400, 3_000)];
  const changes = settledSecond(2);
  const [first, second] = [bothCalls[0] ?? call(0, 0), bothCalls[1] ?? call(0, 0)];
  const late = { ...first, begunAt: 17_600, endedAt: 17_700 };
  assert.deepEqual(brokenIn(historyOf({ changes, faults, seen: [second, late] })), ["twice"]);
  assert.deepEqual(brokenIn(historyOf({ changes, faults, seen: [{ ...first, endedAt: 17_300 }, second] })), [
    "twice",
  ]);
  const repeated = { ...first, begunAt: 1_600, endedAt: 1_700 };
  assert.deepEqual(brokenIn(historyOf({ changes, faults, seen: [first, repeated, second] })), ["twice"]);
});

test("rest: no task is active and no notification is pending at the end", () => {
  assert.deepEqual(brokenIn(historyOf({ changes: goodChanges().slice(0, 2) })), ["rest"]);
  const notification = { id: "n", taskId: "t", attempts: 1, nextAt: 0 };
  const rest = (status: "pending" | "delivered") => ({ notifications: [{ ...notification, status }] });
  assert.deepEqual(brokenIn(historyOf({ rest: rest("pending") })), ["rest"]);
  assert.deepEqual(brokenIn(historyOf({ rest: rest("delivered") })), []);
  const waits = {
    notifications: [{ ...notification, status: "pending" as const, attempts: 2, nextAt: 90_000 }],
  };
  assert.deepEqual(brokenIn(historyOf({ rest: waits })), []);
});

test("stats: the API's counts match the tasks", () => {
  const none = { pending: 0, active: 0, waiting: 0, polling: 0, completed: 0, failed: 0, cancelled: 0 };
  const rest = (completed: number) => ({
    stats: [{ queueId: 1, name: "q", counts: { ...none, completed } }],
  });
  assert.deepEqual(brokenIn(historyOf({ rest: rest(1) })), []);
  assert.deepEqual(brokenIn(historyOf({ rest: rest(2) })), ["stats"]);
});

test("order: tasks are called by priority, then by due time", () => {
  const ended = (id: string, changes: Partial<TaskRow>) => row({ ...COMPLETED, id, ...changes });
  const inOrder = (first: Partial<TaskRow>, second: Partial<TaskRow>) => {
    const tasks = [ended("t", first), ended("u", second)];
    const changes = [...goodChanges(first), ...goodChanges({ id: "u", ...second })];
    const seen = [call(1_020, 1_030), call(1_040, 1_050, { taskId: "u" })];
    return brokenIn(historyOf({ changes, seen, rest: { tasks, orderedQueueId: 1 } }));
  };
  assert.deepEqual(inOrder({ priority: 9 }, { priority: 3 }), []);
  assert.deepEqual(inOrder({ priority: 3 }, { priority: 9 }), ["order"]);
  assert.deepEqual(inOrder({ runAt: 2 }, { runAt: 1 }), ["order"]);
});

test("order: no task starts before it is due", () => {
  assert.deepEqual(brokenIn(historyOf({ changes: goodChanges({ runAt: 1_009 }) })), []);
  assert.deepEqual(brokenIn(historyOf({ changes: goodChanges({ runAt: 1_100 }) })), ["order"]);
});

test("line: an ordered queue starts tasks one after the other, oldest first", () => {
  const queue = (blocks: boolean) => queueChange(1, { concurrency: 1, ordered: true, blocks });
  const begun = { status: "active", fence: 1, workerId: 1, attemptCount: 1 } as const;
  const born = [
    taskChange(100, { id: "t", createdAt: 100, runAt: 100 }, "insert"),
    taskChange(200, { id: "u", createdAt: 200, runAt: 200 }, "insert"),
  ];
  const first = taskChange(300, { ...begun, id: "t", createdAt: 100 });
  const second = (at: number) => taskChange(at, { ...begun, id: "u", createdAt: 200 });
  const between = (changes: Partial<TaskRow>) => taskChange(400, { id: "t", attemptCount: 1, ...changes });
  const isBroken = (...changes: Change[]) => brokenIn(historyOf({ changes })).includes("line");
  const failed = between({ status: "failed", failureReason: "retries_exhausted" });
  assert.equal(isBroken(queue(false), ...born, first, between({ status: "completed" }), second(500)), false);
  assert.equal(isBroken(queue(false), ...born, first, between({ status: "polling" }), second(500)), true);
  assert.equal(isBroken(queue(false), ...born, first, between({ status: "pending" }), second(500)), true);
  assert.equal(isBroken(queueChange(1, {}), ...born, first, second(500)), false);
  assert.equal(isBroken(queue(false), ...born, first, failed, second(500)), false);
  assert.equal(isBroken(queue(true), ...born, first, failed, second(500)), true);
  assert.equal(isBroken(queue(false), ...born, second(20_000)), true, "the first was due for long");
});

test("told: a notification arrives after the end, with the right status", () => {
  const changes = goodChanges({ hasNotification: true });
  const notification = (begunAt: number, says: string) =>
    call(begunAt, begunAt + 10, { kind: "notification", attempt: null, says });
  const reported = (...notifications: ReturnType<typeof notification>[]) =>
    brokenIn(historyOf({ changes, seen: [call(1_020, 1_100), ...notifications] }));
  assert.deepEqual(reported(notification(1_300, "task.completed")), []);
  assert.deepEqual(reported(), ["told"]);
  assert.deepEqual(reported(notification(1_150, "task.completed")), ["told"]);
  assert.deepEqual(reported(notification(1_300, "task.failed")), ["told"]);
  assert.deepEqual(
    brokenIn(historyOf({ seen: [call(1_020, 1_100), notification(1_300, "task.completed")] })),
    ["told"],
  );
});

test("answers: every request is answered in time, unless its node was or is paused", () => {
  const read = answer("read", 2_000, { taskId: null, queue: null });
  const created = answer("create", 995);
  const asked = (changes: Partial<typeof read>, faults: ReturnType<typeof fault>[] = []) =>
    brokenIn(historyOf({ answers: [created, { ...read, ...changes }], faults }));
  assert.deepEqual(asked({ endedAt: 3_900 }), []);
  assert.deepEqual(asked({ endedAt: 8_000 }), ["answers"]);
  assert.deepEqual(asked({ endedAt: 8_000 }, [fault(2_500, 7_000, { paused: [PID] })]), []);
  assert.deepEqual(asked({ endedAt: 8_000 }, [fault(-9_000, -1_000, { paused: [PID] })]), []);
  assert.deepEqual(asked({ endedAt: 8_000 }, [fault(-9_000, -5_000, { paused: [PID] })]), ["answers"]);
  assert.deepEqual(asked({ endedAt: 8_000 }, [fault(2_500, 7_000)]), ["answers"]);
  assert.deepEqual(asked({ status: 500 }), ["answers"]);
  assert.deepEqual(asked({ status: 503 }), ["answers"]);
  assert.deepEqual(asked({ status: 503 }, [fault(500, 1_000)]), []);
  assert.deepEqual(asked({ status: 503 }, [fault(500, 1_000, { nodes: [2] })]), ["answers"]);
  assert.deepEqual(asked({ action: "callback", endedAt: 8_000 }), []);
});

test("process: a node does not exit by itself, and starts and stops in time", () => {
  const lived = (changes: Partial<ReturnType<typeof life>>) =>
    brokenIn(historyOf({ lives: [life(changes)] }));
  assert.deepEqual(lived({ endedAt: 5_000, killed: true }), []);
  assert.deepEqual(lived({ endedAt: 5_000, exitCode: 1 }), ["process"]);
  assert.deepEqual(lived({ askedAt: 5_000, endedAt: 9_000, exitCode: 0 }), []);
  assert.deepEqual(lived({ askedAt: 5_000, endedAt: 9_000, exitCode: 1 }), ["process"]);
  assert.deepEqual(lived({ askedAt: 5_000, endedAt: 25_000, killed: true }), ["process"]);
  assert.deepEqual(lived({ readyAt: null, endedAt: 3_000, exitCode: 1 }), []);
  assert.deepEqual(lived({ readyAt: null, endedAt: 45_000, killed: true }), ["process"]);
});

test("a violation is explained by the timeline of its task", () => {
  const history = historyOf({ faults: [fault(1_050, 1_150)] });
  const lines = drawTimeline(tellStories(history).find("t"), history).map(
    (line) => line.trim().split(/\s{2,}/)[1],
  );
  assert.equal(lines.length, 9);
  assert.match(lines[0] ?? "", /client create → node 1/);
  assert.match(lines.at(-1) ?? "", /database update → completed/);
});

test("schedules: every due time creates one task, in the commit that advances it", () => {
  const made = (id: string, at: number) =>
    goodChanges({ id }).map((change) => ({ ...change, committedAt: change.committedAt + at }));
  const seen = ["t", "u"].map((taskId, index) =>
    call(1_020 + index * 1_000, 1_100 + index * 1_000, { taskId }),
  );
  const tasks = [...made("t", 0), ...made("u", 1_000)];
  const created = scheduleChange(500, 1_000, "insert");
  const fired = [scheduleChange(1_000, 2_000), firing(1_000, 1_000, "t")];
  const firedAgain = [scheduleChange(2_000, 3_000), firing(2_000, 2_000, "u")];
  const history = (...changes: readonly Change[]) =>
    historyOf({ changes: [...tasks, created, ...changes], seen, answers: [] });
  const broken = (...changes: readonly Change[]) => brokenIn(history(...changes));

  assert.deepEqual(broken(...fired, ...firedAgain, scheduleChange(2_500, 3_000, "delete")), []);
  assert.deepEqual(broken(...fired, scheduleChange(2_000, 3_000)), ["schedules"], "a time without a task");
  assert.deepEqual(broken(...fired, ...firedAgain, firing(2_000, 2_000, "t")), ["schedules"], "two for one");
  assert.deepEqual(broken(...fired, firing(1_500, 1_500, "u")), ["schedules"], "one that was not due");
  assert.deepEqual(
    broken(...fired, firing(2_000, 2_000, "u"), scheduleChange(2_000, 9_000)),
    ["schedules"],
    "a gap",
  );
  assert.deepEqual(
    broken(...fired, scheduleChange(52_000, null)),
    ["schedules"],
    "none since, all being well",
  );
  const ended = history(...fired, scheduleChange(52_000, null));
  const stopped = [fault(30_000, 45_000), fault(2_500, 35_000)];
  assert.deepEqual(brokenIn({ ...ended, faults: stopped }), [], "a fault kept it from firing");
  assert.deepEqual(brokenIn({ ...ended, faults: [fault(30_000, 45_000)] }), ["schedules"], "in part alone");
  const madeLate = historyOf({
    changes: [...tasks, scheduleChange(50_000, 1_000, "insert"), scheduleChange(52_000, null)],
    seen,
    answers: [],
  });
  assert.deepEqual(brokenIn(madeLate), [], "it was stored after its first time");
  const lost = [scheduleChange(2_000, 3_000), firing(2_000, 2_000, "v")];
  assert.deepEqual(broken(...fired, ...lost), ["schedules"], "a firing whose task is not there");
});

test("schedules: one that skips fires while none of its tasks is under way, and then it does", () => {
  const moved = (at: number) => scheduleChange(at, Math.floor(at / 1_000) * 1_000 + 1_000, "update", true);
  const fires = (at: number, id: string) => [moved(at), firing(at, at, id)];
  // Each task ends 200 ms after it was made.
  const made = (id: string, at: number) =>
    goodChanges({ id }).map((change) => ({ ...change, committedAt: change.committedAt - 1_000 + at }));
  const seen = ["t", "u"].map((taskId, index) => {
    const at = index === 0 ? 1_000 : 7_000;
    return call(at + 20, at + 100, { taskId });
  });
  const tasks = [...made("t", 1_000), ...made("u", 7_000)];
  const broken = (...changes: readonly Change[]) =>
    brokenIn(
      historyOf({
        changes: [scheduleChange(500, 1_000, "insert", true), ...tasks, ...fires(1_000, "t"), ...changes],
        seen,
        answers: [],
      }),
    );
  const left = [2_000, 3_000, 4_000].map(moved);
  assert.deepEqual(broken(...left), [], "it may have looked before the end");
  assert.deepEqual(
    broken(...left, moved(5_000), moved(6_000), ...fires(7_000, "u")),
    ["schedules"],
    "for long",
  );
  const early = [scheduleChange(1_100, 1_000, "update", true), moved(1_150), firing(1_150, 1_000, "u")];
  assert.deepEqual(broken(...early), ["schedules"], "one was under way");
});

test("bulks: a turn restarts as many tasks as it counts, and processes every task", () => {
  const failed = {
    status: "failed",
    attemptCount: 1,
    attempts: [attempt({ status: "failed", code: 500 })],
  } as const;
  const again = { ...failed, status: "pending", fence: 3, retries: 1 } as const;
  const life = [
    ...goodChanges().slice(0, 2),
    taskChange(1_200, { ...failed, fence: 2 }),
    taskChange(2_000, again),
    taskChange(2_010, { ...again, status: "active", fence: 4, workerId: 1, attemptCount: 2 }),
    taskChange(2_200, {
      ...COMPLETED,
      fence: 5,
      retries: 1,
      attemptCount: 2,
      attempts: [...failed.attempts, attempt({ number: 2 })],
    }),
  ];
  const seen = [call(1_020, 1_100, { status: 500 }), call(2_020, 2_100, { attempt: 2 })];
  const broken = (...bulks: readonly Change[]) =>
    brokenIn(historyOf({ changes: [...life, bulkChange(1_500, {}, "insert"), ...bulks], seen }));

  assert.deepEqual(broken(bulkChange(2_000, { status: "completed", done: 1 })), []);
  assert.deepEqual(broken(bulkChange(2_000, { status: "completed", skipped: 1 })), ["bulks"], "not counted");
  assert.deepEqual(
    broken(bulkChange(3_000, { status: "completed", done: 1 })),
    ["bulks"],
    "in another commit",
  );
  assert.deepEqual(broken(bulkChange(2_000, { done: 1, matched: 2 })), ["bulks"], "one had no turn");
  const twice = [...life.slice(0, 3), taskChange(2_000, { ...again, retries: 2 })];
  const bulk = [bulkChange(1_500, {}, "insert"), bulkChange(2_000, { status: "completed", done: 1 })];
  assert.ok(brokenIn(historyOf({ changes: [...twice, ...bulk], seen: seen.slice(0, 1) })).includes("D"));
});

test("H: no window of a flow has more begun calls than its rate, counted from the claims", () => {
  const failed = { attemptCount: 1, attempts: [attempt({ status: "failed", code: 500 })] } as const;
  const ended = {
    ...COMPLETED,
    fence: 4,
    attemptCount: 2,
    attempts: [...failed.attempts, attempt({ number: 2 })],
  };
  const broken = (flow: string, arrivedAt: number) =>
    brokenIn(
      historyOf({
        changes: [
          ...goodChanges().slice(0, 2),
          taskChange(1_200, { ...failed, status: "pending", fence: 2 }),
          taskChange(6_900, { ...failed, status: "active", fence: 3, workerId: 1, attemptCount: 2 }),
          taskChange(7_200, ended),
        ].map((change) => ({ ...change, row: { ...change.row, flow } }) as Change),
        seen: [call(arrivedAt, arrivedAt + 50, { status: 500 }), call(6_920, 7_100, { attempt: 2 })],
      }),
    );

  assert.deepEqual(broken("c1-r1-p5", 1_020), []);
  assert.deepEqual(broken("c1-r1-p9", 1_020), ["H"]);
  assert.deepEqual(broken("c1-r2-p9", 1_020), []);
  assert.deepEqual(broken("c1-r1-p5", 6_800).includes("H"), false, "its process was frozen after it began");
});

test("H: no period of a queue with a rate has more claims or begun calls than its rate", () => {
  const broken = (secondAt: number, changed: readonly Change[] = []) => {
    const other = { id: "u", attemptStartedAt: secondAt - 5 };
    return brokenIn(
      historyOf({
        changes: [
          queueChange(500, { rate: 1, ratePeriod: 2 }),
          ...goodChanges({ attemptStartedAt: 1_005 }),
          ...changed,
          taskChange(secondAt - 10, { id: "u" }, "insert"),
          taskChange(secondAt, { ...other, status: "active", fence: 1, workerId: 1, attemptCount: 1 }),
          taskChange(secondAt + 200, { ...other, ...COMPLETED }),
        ],
        seen: [call(1_020, 1_100), call(secondAt + 10, secondAt + 90, { taskId: "u" })],
      }),
    );
  };
  assert.deepEqual(broken(3_020), []);
  assert.deepEqual(broken(2_900), ["H"], "within the tolerance of what targets see, not of the rows");
  assert.deepEqual(broken(1_500), ["H"]);
  assert.deepEqual(broken(2_900, [queueChange(2_000, { rate: 2, ratePeriod: 2 })]), []);
});

test("waiting: a task starts when it is due and its queue has a permit and a slot", () => {
  const broken = (startedAt: number, { concurrency = 5, faults = [] as Fault[] } = {}) =>
    brokenIn(
      historyOf({
        changes: [
          queueChange(500, { rate: 1, ratePeriod: 2, concurrency }),
          taskChange(900, { id: "u" }, "insert"),
          taskChange(910, { id: "u", status: "active", fence: 1, workerId: 1, attemptCount: 1 }),
          taskChange(5_500, { id: "u", ...COMPLETED }),
          taskChange(1_000, {}, "insert"),
          taskChange(startedAt, { status: "active", fence: 1, workerId: 1, attemptCount: 1 }),
          taskChange(startedAt + 200, COMPLETED),
        ],
        seen: [call(920, 5_400, { taskId: "u" }), call(startedAt + 10, startedAt + 100)],
        faults,
      }),
    );
  assert.deepEqual(broken(4_500), []);
  assert.deepEqual(broken(4_600), ["waiting"]);
  assert.deepEqual(broken(4_600, { faults: [fault(950, 1_000)] }), []);
  assert.deepEqual(broken(6_500, { concurrency: 1 }), [], "there was no slot");
});

test("breaker: nothing begins before its time, and then one task at a time until its host has answered", () => {
  const begun = { status: "active", fence: 1, workerId: 1, attemptCount: 1 } as const;
  const born = ["t", "u"].map((id) => taskChange(900, { id }, "insert"));
  const start = (id: string, at: number) => taskChange(at, { ...begun, id });
  const failed = taskChange(4_300, { id: "t", fence: 2, attemptCount: 1 });
  const isBroken = (...changes: Change[]) =>
    brokenIn(historyOf({ changes: [breakerChange(1_000, "open", 4_000), ...born, ...changes] })).includes(
      "breaker",
    );
  const again = breakerChange(4_290, "open", 10_000);
  assert.equal(isBroken(start("t", 4_100)), false);
  assert.equal(isBroken(start("t", 1_020)), false, "the claim was under way");
  assert.equal(isBroken(start("t", 2_000)), true);
  assert.equal(isBroken(start("t", 4_100), start("u", 4_200)), true);
  assert.equal(isBroken(start("t", 4_100), again, failed, start("u", 5_000)), true);
  assert.equal(isBroken(start("t", 4_100), again, failed, start("u", 10_100)), false);
  assert.equal(isBroken(start("t", 4_100), breakerChange(4_290, "closing", 4_000), start("u", 4_300)), false);
});

test("sandbox: simulated tasks come to what was asked for, call nobody, and leave the live clock alone", () => {
  const expected = { status: "completed", attempts: 2, value: "sandbox-1" };
  const broken = (found: typeof expected | null, parts: Partial<History> = {}) =>
    brokenIn(historyOf({ sandbox: [{ taskId: "s", expected, found }], ...parts }));
  assert.deepEqual(broken(expected), []);
  assert.deepEqual(broken({ ...expected, attempts: 1 }), ["sandbox"]);
  assert.deepEqual(broken({ ...expected, status: "pending" }), ["sandbox"]);
  assert.deepEqual(broken(null), ["sandbox"]);
  const called = call(1_020, 1_100, { taskId: "s", nonces: ["sandbox-1", "sandbox-1"] });
  assert.ok(broken(expected, { seen: [call(1_020, 1_100), called] }).includes("sandbox"));
  const created = (createdAt: number) =>
    broken(expected, { answers: [answer("create", 995, { createdAt })] });
  assert.deepEqual(created(1_000), []);
  assert.deepEqual(created(3_601_000), ["sandbox"]);
});

test("retention: a task that has ended is removed when its life is over, counted from its last end", () => {
  const queue = queueChange(10, { name: FLEETING.queue });
  const ended = { ...COMPLETED, completedAt: 1_195 };
  const life = [...goodChanges().slice(0, 2), taskChange(1_200, ended)];
  const broken = (...changes: Change[]) =>
    brokenIn(historyOf({ changes: [queue, ...changes], rest: { at: 70_000 } }));
  const removed = (at: number, row: Partial<TaskRow> = ended) => taskChange(at, row, "delete");
  assert.deepEqual(broken(...life, removed(1_195 + FLEETING.lifeMs)), []);
  assert.deepEqual(broken(...life, removed(5_000)), ["retention"]);
  assert.deepEqual(broken(...life), ["retention"], "it is still there at the end");
  const retried = taskChange(2_000, { ...ended, status: "pending", fence: 3, retries: 1, completedAt: null });
  assert.ok(broken(...life, retried, removed(9_000, retried.row as TaskRow)).includes("retention"));
});
