import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeHistory } from "../report.ts";
import { answer, brokenIn, COMPLETED, call, goodChanges, historyOf, taskChange } from "./hand-made.ts";
import type { Delivery, History, Reader, Receiver, TaskRecord, ToldEvent } from "./history.ts";

const TYPES = ["task.created", "task.started", "task.completed"];

function event(type: string, changes: Partial<ToldEvent> = {}): ToldEvent {
  return { at: 2_000, id: `${type} ${changes.at ?? 0}`, type, taskId: "t", nonces: [], ...changes };
}

test("events: a reader gets every change of a task once, in order", () => {
  const broken = (told: readonly string[], readyAt: number | null = 500, teamId = 1) =>
    brokenIn(
      historyOf({ readers: [{ teamId, readyAt, told: told.map((type, at) => event(type, { at })) }] }),
    );
  assert.deepEqual(broken(TYPES), []);
  assert.deepEqual(broken(["task.created", "task.completed", "task.started"]), ["events"], "out of order");
  assert.deepEqual(broken(["task.created", "task.completed"]), ["events"], "one is missing");
  assert.deepEqual(broken([...TYPES, "task.failed"]), ["events"], "one did not happen");
  assert.deepEqual(broken(["task.completed"], 1_100), [], "it listens since the task was called");
  assert.deepEqual(broken(["task.started"], 1_100), ["events"], "the end is missing");
  assert.deepEqual(broken(["reset", ...TYPES]), ["events"], "a reset without a cause");
  assert.deepEqual(broken([], 500, 2), [], "of another team nothing is told");
  assert.deepEqual(broken(TYPES, 500, 2), ["events"], "another team was told");
  const twice = { teamId: 1, readyAt: 500, told: [event("task.created"), event("task.created")] };
  assert.deepEqual(brokenIn(historyOf({ readers: [twice] })), ["events"]);
  const inState = (state: string) =>
    brokenIn(
      historyOf({
        readers: [
          { ...twice, told: TYPES.map((type) => event(type, type === "task.created" ? { state } : {})) },
        ],
      }),
    );
  assert.deepEqual(inState("pending"), []);
  assert.deepEqual(inState("completed"), ["events"], "the state that it came to later");
  const unknown = [...TYPES.map((type) => event(type)), event("task.created", { taskId: "nobody's" })];
  assert.deepEqual(brokenIn(historyOf({ readers: [{ teamId: 1, readyAt: 500, told: unknown }] })), [
    "events",
  ]);
});

function delivery(type: string, happenedAt: number, changes: Partial<Delivery> = {}): Delivery {
  const told = { type, taskId: "t", happenedAt, nonces: [] };
  return { at: 2_000, id: `whd ${type}`, signed: true, status: 200, ...told, ...changes };
}
const DELIVERIES = TYPES.map((type, index) => delivery(type, 1_000 + index));

function receivers(received: readonly Delivery[], changes: Partial<Receiver> = {}): Receiver[] {
  return [{ teamId: 1, queue: null, since: 500, received, ...changes }];
}

test("webhooks: a receiver gets every change of a task, and further tries with the same id", () => {
  const broken = (received: readonly Delivery[], changes: Partial<Receiver> = {}) =>
    brokenIn(historyOf({ receivers: receivers(received, changes) }));
  assert.deepEqual(broken(DELIVERIES), []);
  assert.deepEqual(broken(DELIVERIES.toReversed()), [], "they may arrive out of order");
  assert.deepEqual(broken([...DELIVERIES, ...DELIVERIES]), [], "they may arrive twice");
  assert.deepEqual(broken(DELIVERIES.slice(1)), ["webhooks"], "one is missing");
  assert.deepEqual(
    broken(DELIVERIES.map((each) => ({ ...each, state: "completed" }))),
    ["webhooks"],
    "a later state",
  );
  assert.deepEqual(broken([]), ["webhooks"], "all are missing");
  const refused = DELIVERIES.map((each) => ({ ...each, status: 503 }));
  assert.deepEqual(broken(refused), ["webhooks"], "what was refused must come again");
  assert.deepEqual(broken([...refused, ...DELIVERIES]), []);
  assert.deepEqual(broken([...DELIVERIES, delivery("task.failed", 1_004)]), ["webhooks"], "it did not fail");
  const again = delivery("task.completed", 1_002, { id: "another id" });
  assert.deepEqual(broken([...DELIVERIES, again]), ["webhooks"], "one event has two ids");
  const other = delivery("task.failed", 1_002, { id: "whd task.completed" });
  assert.deepEqual(broken([...DELIVERIES, other]), ["webhooks"], "one id stands for two events");
  assert.deepEqual(broken(DELIVERIES.map((each) => ({ ...each, signed: false }))), ["webhooks"]);
  const wrongOrder = DELIVERIES.map((each) => ({ ...each, happenedAt: -each.happenedAt }));
  assert.deepEqual(broken(wrongOrder), ["webhooks"], "the timestamps do not rise with the changes");
  assert.deepEqual(broken([], { queue: "another" }), [], "its queue is not asked for");
  assert.deepEqual(broken(DELIVERIES, { queue: "another" }), ["webhooks"]);
  assert.deepEqual(broken(DELIVERIES, { teamId: 2 }), ["webhooks"], "another team was told");
  assert.deepEqual(broken(DELIVERIES.slice(2), { since: 1_100 }), [], "it is younger than the task");
});

test("webhooks: a delivery that is due after the run is not counted as missing", () => {
  const undelivered = [{ type: "task.started", taskId: "t" }];
  const received = DELIVERIES.filter(({ type }) => type !== "task.started");
  assert.deepEqual(brokenIn(historyOf({ receivers: receivers(received), rest: { undelivered } })), []);
  assert.deepEqual(brokenIn(historyOf({ receivers: receivers([]), rest: { undelivered } })), ["webhooks"]);
});

function record(changes: Partial<TaskRecord> = {}): TaskRecord {
  return { id: "t", status: "completed", nonces: ["n", "n"], value: "n#1", ...changes };
}
const created = answer("create", 995, { carried: "n" });

test("values: payload, record, events and deliveries carry the request's nonce", () => {
  const broken = (parts: Partial<History>) => brokenIn(historyOf({ answers: [created], ...parts }));
  const calledWith = (...nonces: string[]) => broken({ seen: [call(1_020, 1_100, { nonces })] });
  assert.deepEqual(calledWith("n", "n"), []);
  assert.deepEqual(calledWith("n", "other"), ["values"], "the payload of another task");
  assert.deepEqual(calledWith("n", ""), ["values"], "no payload");
  const told = TYPES.map((type) => event(type, { nonces: ["other"] }));
  assert.deepEqual(broken({ readers: [{ teamId: 1, readyAt: 500, told }] }), ["values"]);
  const received = DELIVERIES.map((each) => ({ ...each, nonces: ["other"] }));
  assert.deepEqual(broken({ receivers: receivers(received) }), ["values"]);
  assert.deepEqual(brokenIn(historyOf({ answers: [created], rest: { records: [record()] } })), []);
  const wrong = record({ nonces: ["n", "other"] });
  assert.deepEqual(brokenIn(historyOf({ answers: [created], rest: { records: [wrong] } })), ["values"]);
});

test("values: the result is the answer to the last attempt of this task", () => {
  const broken = (value: string | null) =>
    brokenIn(historyOf({ answers: [created], rest: { records: [record({ value })] } }));
  assert.deepEqual(broken("n#1"), []);
  assert.deepEqual(broken("n#2"), ["values"], "of another attempt");
  assert.deepEqual(broken("other#1"), ["values"], "of another task");
  assert.deepEqual(broken(null), ["values"], "none");
  const wrong = { kind: "notification", attempt: null, says: "task.completed", value: "other#1" } as const;
  const seen = [call(1_020, 1_100), call(1_300, 1_310, wrong)];
  const changes = goodChanges({ hasNotification: true });
  const rest = { records: [record()] };
  assert.deepEqual(brokenIn(historyOf({ answers: [created], changes, seen, rest })), ["values"]);
});

test("values and callbacks: one callback is accepted, and it is the result", () => {
  const changes = [
    ...goodChanges().slice(0, 2),
    taskChange(1_200, { ...COMPLETED, status: "waiting", deadlineAt: 9_000 }),
    taskChange(3_000, { ...COMPLETED, fence: 3 }),
  ];
  const broken = (value: string, ...statuses: (number | null)[]) => {
    const callbacks = statuses.map((status, index) =>
      answer("callback", 2_990, { status, carried: `n:${index}`, failure: null }),
    );
    const rest = { records: [record({ value })] };
    return brokenIn(historyOf({ answers: [created, ...callbacks], changes, rest }));
  };
  assert.deepEqual(broken("n:0", 200, 404), []);
  assert.deepEqual(broken("n:1", 200, 404), ["values"], "the result is of the one that was refused");
  assert.deepEqual(broken("n:1", 200, 200), ["callbacks"]);
  assert.deepEqual(broken("n:1", 404, null), [], "one without an answer may have counted");
});

test("answers: a late answer on a crowded machine is reported as unjudged", () => {
  const slow = answer("read", 5_000, { endedAt: 9_000, taskId: null });
  const history = (crowded: History["crowded"], status = 200) =>
    historyOf({ answers: [created, { ...slow, status }], crowded });
  assert.equal(judgeHistory(history([])).outcome, "violated");
  assert.equal(judgeHistory(history([{ from: 20_000, to: 30_000 }])).outcome, "violated", "at another time");
  const verdict = judgeHistory(history([{ from: 6_000, to: 6_500 }]));
  assert.equal(verdict.outcome, "unjudged");
  assert.deepEqual(verdict.figures.unjudged, { answers: 1, late: 1, readers: 0 });
  assert.match(verdict.text, /too slow to judge/);
  const bug = judgeHistory(history([{ from: 6_000, to: 6_500 }], 500));
  assert.equal(bug.outcome, "violated", "a 500 is a bug on any machine");
});

test("events: what a reader lacks that was still behind on a crowded machine is not judged", () => {
  const judge = (told: readonly string[], changes: Partial<Reader> = {}, crowded = true) =>
    judgeHistory(
      historyOf({
        readers: [
          {
            teamId: 1,
            readyAt: 500,
            told: told.map((type, at) => event(type, { at })),
            isBehind: true,
            ...changes,
          },
        ],
        crowded: crowded ? [{ from: 0, to: 1_000_000 }] : [],
      }),
    );
  const behind = judge(TYPES.slice(0, 2));
  assert.equal(behind.outcome, "unjudged");
  assert.equal(behind.figures.unjudged.readers, 1);
  assert.match(behind.text, /too slow to judge what readers were told last/);
  assert.equal(judge([]).outcome, "unjudged");
  assert.equal(judge(["task.started"], { readyAt: 1_100 }).outcome, "unjudged", "it came later");
  assert.equal(judge(TYPES.slice(0, 2), {}, false).outcome, "violated", "it had time");
  assert.equal(judge(TYPES.slice(0, 2), { isBehind: false }).outcome, "violated", "it was told of the last");
  assert.equal(
    judge(["task.created", "task.completed"]).outcome,
    "violated",
    "one is missing before another",
  );
  assert.equal(judge([...TYPES, "task.failed"]).outcome, "violated", "one did not happen");
});
