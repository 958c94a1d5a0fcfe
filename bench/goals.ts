import { arch } from "node:os";
import { differenceOf, type Figures, type Ratio, ratioOf } from "./figures.ts";
import { median } from "./statistics.ts";

export interface Verdict {
  goal: string;
  target: string;
  /** Undefined: nothing of it was measured in this run. */
  measured: Ratio | undefined;
  isMet: boolean | undefined;
}

interface Goal {
  goal: string;
  sense: "at least" | "at most";
  bound: number;
  measure(figures: Figures): Ratio | undefined;
}

const throughput = "tasks/s, 64 connections";

/** Nearly all are ratios within one run: times of one machine say nothing about another. */
const goals: Goal[] = [
  overall("bellhop / skeleton", 0.7, "skeleton"),
  againstSkeleton("bellhop / skeleton, loads in turns", "at least", 0.7, "in-turns", "tasks/s"),
  againstSkeleton("PostgreSQL's CPU, loads in turns", "at most", 1.6, "in-turns", "database"),
  // Redis is faster on arm64, beside everything else there.
  overall("bellhop / BullMQ (everysec)", arch() === "arm64" ? 1.3 : 1.7, "bullmq"),
  overall("bellhop / BullMQ (appendfsync always)", 2.5, "bullmq-always"),
  overall("bellhop / pg-boss", 3.5, "pg-boss"),
  overall("bellhop / graphile-worker", 4, "graphile-worker"),
  overall("bellhop / Quirrel", 2.2, "quirrel"),
  againstSkeleton("PostgreSQL's CPU a task / skeleton's", "at most", 1.6, "hand-off", "database"),
  ownFigure("HOT share of settlements, %", "at least", 90, "hand-off", "HOT share of updates, %"),
  ownFigure("allocated kB a task", "at most", 25, "hand-off", "allocated kB/task"),
  ownFigure("promises a task", "at most", 12, "hand-off", "promises/task"),
  {
    goal: "the log at info, µs of the main thread a task",
    sense: "at most",
    bound: 5,
    measure: (figures) =>
      differenceOf(
        figures.values("users", "log at info", "CPU µs/task, main thread"),
        figures.values("users", "plain", "CPU µs/task, main thread"),
      ),
  },
  {
    ...within(
      "CPU of a message of /v2 / of a task of /v1",
      1.15,
      "qstash",
      "CPU µs/task, main thread",
      "/v2",
      "/v1",
    ),
    sense: "at most",
  },
  againstSkeleton("slots exhausted, bellhop / skeleton that claims", "at least", 0.7, "slots", "tasks/s"),
  {
    goal: "slots exhausted, starts with a bad plan",
    sense: "at most",
    bound: 0,
    measure: (figures) => countBadStarts(figures.values("slots", "bellhop", "database")),
  },
  againstSkeleton(
    "PostgreSQL's CPU of a task by itself (250/s)",
    "at most",
    1.5,
    "latency",
    "250/s: database µs/task",
  ),
  ...[250, 1000, 1500].flatMap((rate) => [
    againstSkeleton(`accept p50 at ${rate}/s`, "at most", 2, "latency", `${rate}/s: accept p50`),
    againstSkeleton(`accept p99 at ${rate}/s`, "at most", 2, "latency", `${rate}/s: accept p99`),
    againstSkeleton(`accept → called p50 at ${rate}/s`, "at most", 1.5, "latency", `${rate}/s: called p50`),
  ]),
  within("claims with 1,000,000 pending / 20,000", 0.9, "pending", "tasks/s", "1,000,000", "20,000"),
  within(
    "claims with 200,000 delayed in front / none",
    0.9,
    "delayed",
    "tasks/s",
    "200,000 in front",
    "none in front",
  ),
  {
    goal: "last tenth of 500,000 tasks / second",
    sense: "at least",
    bound: 0.9,
    measure: (figures) =>
      ratioOf(
        figures.values("soak", "bellhop", "tenth 10: tasks/s"),
        figures.values("soak", "bellhop", "tenth 2: tasks/s"),
      ),
  },
  within("1,000 queues / 1 queue", 0.8, "queues", "tasks/s", "1,000 queues", "1 queue"),
  within("10,000 keys of flows / no flow", 0.8, "flows", "tasks/s", "10,000 keys", "no flow"),
  {
    goal: "100,000 tasks of a full flow in front add to a free key's start, ms p50",
    sense: "at most",
    bound: 10,
    measure: (figures) =>
      differenceOf(
        figures.values("flows", "free key, 100,000 of another waiting", "called p50"),
        figures.values("flows", "free key", "called p50"),
      ),
  },
  ofVariant("a rate of 500/s is reached, %", "at least", 98, "flows", "rate 500/s", "reached, %"),
  ofVariant(
    "most calls of 500/s in any second, %",
    "at most",
    100,
    "flows",
    "rate 500/s",
    "most in a second, %",
  ),
  ofVariant(
    "most claims of 500/s in any second, %",
    "at most",
    100,
    "flows",
    "rate 500/s",
    "most claimed in a second, %",
  ),
  within("10 streams of events / none", 0.9, "listeners", "tasks/s", "10 streams", "no stream"),
  within("two nodes / one", 1.1, "two-nodes", "tasks/s", "two nodes", "one node"),
  ...["queue with counts", "first page of tasks"].map(
    (page): Goal => ({
      goal: `${page}, 10,000,000 finished / 10,000`,
      sense: "at most",
      bound: 2,
      measure: (figures) =>
        ratioOf(
          figures.values("lists", "bellhop", `${page}, 10,000,000`),
          figures.values("lists", "bellhop", `${page}, 10,000`),
        ),
    }),
  ),
  ownFigure("the slowest filter of 1,000,000 tasks, ms", "at most", 100, "filters", "slowest"),
  ownFigure(
    "the last of 10,000 schedules due in one second, s late",
    "at most",
    5,
    "schedules",
    "last, s late",
  ),
  {
    ...within("memory with 1,000,000 pending / none", 1.2, "memory", "RSS MB", "1,000,000", "none"),
    sense: "at most",
  },
  ownFigure("idle, % of a core", "at most", 1, "idle", "% of a core"),
];

export function judge(figures: Figures): Verdict[] {
  return goals.map(({ goal, sense, bound, measure }) => {
    const measured = measure(figures);
    const isMet = measured && (sense === "at least" ? measured.median >= bound : measured.median <= bound);
    return { goal, target: `${sense === "at least" ? "≥" : "≤"} ${bound}`, measured, isMet };
  });
}

function overall(goal: string, bound: number, against: string): Goal {
  return within(goal, bound, "hand-off", throughput, "bellhop", against);
}

/** Of Bellhop alone. */
function ownFigure(
  goal: string,
  sense: Goal["sense"],
  bound: number,
  scenario: string,
  measure: string,
): Goal {
  return ofVariant(goal, sense, bound, scenario, "bellhop", measure);
}

function ofVariant(
  goal: string,
  sense: Goal["sense"],
  bound: number,
  scenario: string,
  variant: string,
  measure: string,
): Goal {
  return {
    goal,
    sense,
    bound,
    measure: (figures) => spreadOf(figures.values(scenario, variant, measure)),
  };
}

function againstSkeleton(
  goal: string,
  sense: Goal["sense"],
  bound: number,
  scenario: string,
  measure: string,
): Goal {
  return { ...within(goal, bound, scenario, measure, "bellhop", "skeleton"), sense };
}

function within(
  goal: string,
  bound: number,
  scenario: string,
  measure: string,
  above: string,
  below: string,
): Goal {
  return {
    goal,
    sense: "at least",
    bound,
    measure: (figures) =>
      ratioOf(figures.values(scenario, above, measure), figures.values(scenario, below, measure)),
  };
}

/** By PostgreSQL's CPU: a claim that walks takes 5 to 20 times as much, and a restless machine hardly changes it. */
function countBadStarts(cpuMicros: readonly number[]): Ratio | undefined {
  if (cpuMicros.length < 3) return undefined;
  const usual = median([...cpuMicros]);
  const bad = cpuMicros.filter((micros) => micros > usual * 2).length;
  return { median: bad, min: bad, max: bad, pairs: cpuMicros.length };
}

function spreadOf(values: readonly number[]): Ratio | undefined {
  if (values.length === 0) return undefined;
  return {
    median: median([...values]),
    min: Math.min(...values),
    max: Math.max(...values),
    pairs: values.length,
  };
}
