import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, call, fault, historyOf, PID } from "./hand-made.ts";
import type { Answer, History, Seen } from "./history.ts";
import { checkOutside } from "./outside/outside.ts";
import { type Limits, NO_WISH, type Wish } from "./outside/wishes.ts";

/** Which promises are broken for one who sees nothing but answers and calls. */
function broken(parts: Partial<History> & Pick<History, "answers" | "seen">): string[] {
  const history = { ...historyOf(), ...parts };
  return [...new Set(checkOutside(history).map(({ promise }) => promise))];
}

/** A creation that was answered 201 ten milliseconds later. The task is named like its nonce. */
function asked(taskId: string, at: number, wish: Partial<Wish> = {}, changes: Partial<Answer> = {}): Answer {
  return answer("create", at, { taskId, carried: taskId, wish: { ...NO_WISH, ...wish }, ...changes });
}

function called(taskId: string, begunAt: number, endedAt: number | null, changes: Partial<Seen> = {}): Seen {
  return call(begunAt, endedAt, { taskId, nonces: [taskId], ...changes });
}

function queue(changes: Partial<Limits> = {}): Answer {
  const limits = { concurrency: 1, rate: null, ordered: false, breaker: null, ...changes };
  return answer("create-queue", 0, { taskId: null, limits });
}

test("E from outside: no more calls are under way than the queue allows, but for those of a frozen process", () => {
  const answers = [queue(), asked("a", 1_000), asked("b", 1_000)];
  const apart = [called("a", 1_020, 1_100), called("b", 1_100, 1_200)];
  assert.deepEqual(broken({ answers, seen: apart }), []);
  const together = [called("a", 1_020, 14_000), called("b", 13_000, 13_100)];
  assert.deepEqual(broken({ answers, seen: together }), ["E"]);
  const frozen = (to: number) => [fault(1_500, to, { paused: [PID] })];
  assert.deepEqual(broken({ answers, seen: together, faults: frozen(14_000) }), []);
  assert.deepEqual(broken({ answers, seen: together, faults: frozen(5_000) }), ["E"], "it woke before");
});

test("H from outside: the limits of flows and the rates of queues", () => {
  const seen = [called("a", 1_020, 1_100), called("b", 2_020, 2_100)];
  const ofFlow = (flow: string) => [asked("a", 1_000, { flow }), asked("b", 1_000, { flow })];
  assert.deepEqual(broken({ answers: ofFlow("c2-r1-p1"), seen }), []);
  assert.deepEqual(broken({ answers: ofFlow("c2-r1-p2"), seen }), ["H"]);
  assert.deepEqual(broken({ answers: ofFlow("c1"), seen: [called("a", 1_020, 3_000), ...seen.slice(1)] }), [
    "H",
  ]);
  const rate = (periodMs: number) => queue({ concurrency: 2, rate: { calls: 1, periodMs } });
  const answers = [asked("a", 1_000), asked("b", 1_000)];
  assert.deepEqual(broken({ answers: [rate(1_000), ...answers], seen }), []);
  assert.deepEqual(broken({ answers: [rate(2_000), ...answers], seen }), ["H"]);
  const woken = [fault(1_500, 2_010, { paused: [PID] })];
  assert.deepEqual(
    broken({ answers: [rate(2_000), ...answers], seen, faults: woken }),
    [],
    "it began before",
  );
});

test("order from outside: nothing is called before its delay is over, nor before what has a higher priority", () => {
  const delayed = [asked("a", 1_000, { delayMs: 500 })];
  assert.deepEqual(broken({ answers: delayed, seen: [called("a", 1_510, 1_600)] }), []);
  assert.deepEqual(broken({ answers: delayed, seen: [called("a", 1_100, 1_200)] }), ["order"]);
  const unanswered = [asked("a", 1_000, { delayMs: 500 }, { status: null, taskId: null })];
  assert.deepEqual(broken({ answers: unanswered, seen: [called("a", 1_100, 1_200)] }), ["order"]);

  const ranked = (low: number, { high, other }: { high?: string; other?: string } = {}) => ({
    answers: [
      queue(),
      asked("a", 1_000, { priority: 9, flow: high ?? null }),
      asked("b", 1_000, { priority: 2, flow: other ?? null }),
    ],
    seen: [called("b", low, low + 10), called("a", 19_000, 19_100)],
  });
  assert.deepEqual(broken(ranked(2_000)), [], "it may have been claimed before the other was stored");
  assert.deepEqual(broken(ranked(12_000)), ["order"]);
  assert.deepEqual(broken(ranked(15_000)), [], "it may have been claimed after the other");
  assert.deepEqual(broken(ranked(12_000, { other: "c2" })), ["order"]);
  assert.deepEqual(broken(ranked(12_000, { high: "free-1" })), ["order"]);
  assert.deepEqual(broken(ranked(12_000, { high: "c2" })), [], "its flow may have held it back");
});

test("line from outside: an ordered queue or flow calls the next task when the one before has ended", () => {
  const calls = (...seen: Seen[]) =>
    broken({ answers: [queue({ ordered: true }), asked("a", 1_000), asked("b", 1_100)], seen });
  const again = called("a", 3_000, 3_100, { attempt: 2 });
  assert.deepEqual(calls(called("a", 1_200, 1_300), called("b", 1_400, 1_500)), []);
  assert.deepEqual(calls(called("a", 1_200, 1_300, { status: 500 }), called("b", 1_400, 1_500), again), [
    "line",
  ]);
  assert.deepEqual(calls(called("b", 1_400, 1_500), called("a", 1_600, 1_700)), ["line"]);
  const flow = "line-a";
  const ofFlow = [asked("a", 1_000, { flow }), asked("b", 1_100, { flow })];
  const overlap = [called("a", 1_200, 1_450), called("b", 1_400, 1_500)];
  assert.deepEqual(broken({ answers: ofFlow, seen: overlap }), ["line"]);
  const atOnce = [asked("a", 1_000, { flow }), asked("b", 1_005, { flow })];
  assert.deepEqual(
    broken({ answers: atOnce, seen: [called("b", 1_100, 1_200), called("a", 1_300, 1_400)] }),
    [],
  );
});

test("dedupe: a key starts one task within its window, and refuses none after it", () => {
  const dedupe = { key: "k", windowMs: 2_000 };
  const made = (id: string, at: number) => asked(id, at, { dedupe }, { createdAt: at + 3 });
  const joined = (at: number) => asked("a", at, { dedupe }, { status: 200, carried: null, createdAt: 1_003 });
  const unanswered = asked("b", 1_900, { dedupe }, { status: null, taskId: null });
  const seen = [called("a", 1_020, 1_100), called("b", 2_200, 2_300)];
  const first = seen.slice(0, 1);
  assert.deepEqual(broken({ answers: [made("a", 1_000), joined(2_900), made("b", 3_100)], seen: first }), []);
  assert.deepEqual(broken({ answers: [made("a", 1_000), joined(3_100)], seen: first }), ["dedupe"]);
  assert.deepEqual(broken({ answers: [made("a", 1_000), made("b", 2_100)], seen }), ["dedupe"]);
  assert.deepEqual(
    broken({ answers: [made("a", 1_000), unanswered], seen }),
    ["dedupe"],
    "its call shows it",
  );
  const earlier = asked("b", 900, { dedupe }, { status: 503, taskId: null });
  const later = [called("a", 1_020, 1_100), called("b", 9_000, 9_100)];
  assert.deepEqual(
    broken({ answers: [made("a", 1_000), earlier], seen: later }),
    [],
    "created at any time before",
  );
});

test("breaker: it opens for a host that fails, keeps calls from it, and closes", () => {
  const breaker = { failures: 2, cooldownMs: 3_000 };
  const answers = [queue({ concurrency: 4, breaker }), ...["a", "b", "c"].map((id) => asked(id, 1_000))];
  const failing = ["a", "b"].map((id) => called(id, 1_100, 1_200, { status: 503 }));
  const spells = [{ queue: "q", from: 1_000, to: 9_000 }];
  const view = (at: number, held: readonly string[]) => ({
    at,
    endedAt: at + 10,
    held: held.map((state) => ({ queue: "q", state, openedAt: 1_250, until: 4_250 })),
  });
  const told = (breakers: History["breakers"], ...more: Seen[]) =>
    broken({ answers, spells, breakers: breakers ?? [], seen: [...failing, ...more] });
  const open = [view(1_300, ["open"]), view(5_000, ["probing"])];
  assert.deepEqual(told(open, called("c", 4_300, 4_400)), []);
  assert.deepEqual(told(open, called("c", 3_500, 3_600)), ["breaker"], "before its time");
  assert.deepEqual(told([view(5_000, [])]), ["breaker"], "it never opened");
  assert.deepEqual(told([...open, view(59_000, ["probing"])]), ["breaker"], "it is still there at the end");
});

test("A, B, rest and twice from outside: what was accepted ends as its target answers, and is called once", () => {
  const ended = (status: string | null, failureReason: string | null, ...seen: Seen[]) => {
    const { rest } = historyOf();
    const fates = [{ taskId: "a", status, failureReason }];
    return broken({ answers: [asked("a", 1_000)], seen, rest: { ...rest, fates } });
  };
  const good = called("a", 1_100, 1_200);
  const bad = called("a", 1_100, 1_200, { status: 500 });
  assert.deepEqual(ended("completed", null, good), []);
  assert.deepEqual(ended(null, null, good), ["A"]);
  assert.deepEqual(ended("completed", null, bad), ["B"]);
  assert.deepEqual(ended("failed", "worker_lost", bad), []);
  assert.deepEqual(ended("failed", "retries_exhausted", bad), ["B"]);
  assert.deepEqual(ended("active", null, bad), ["rest"]);
  assert.deepEqual(ended("completed", null, good, called("a", 2_000, 2_100, { attempt: 2 })), ["twice"]);
  assert.deepEqual(ended("completed", null, bad, called("a", 1_150, 1_300, { attempt: 2 })), ["twice"]);
  assert.deepEqual(ended("completed", null, bad, called("a", 2_000, 2_100)), ["twice"]);
});

test("slots: the calls of the last wave are all under way at once", () => {
  const { rest } = historyOf();
  const wave = { group: "q", of: 2 };
  const answers = [queue({ concurrency: 2 }), asked("a", 1_000, { wave }), asked("b", 1_000, { wave })];
  const fates = ["a", "b"].map((taskId) => ({ taskId, status: "completed", failureReason: null }));
  const after = (...seen: Seen[]) => broken({ answers, seen, rest: { ...rest, fates } });
  assert.deepEqual(after(called("a", 1_100, 1_500), called("b", 1_200, 1_500)), []);
  assert.deepEqual(after(called("a", 1_100, 1_200), called("b", 1_300, 1_500)), ["slots"]);
});
