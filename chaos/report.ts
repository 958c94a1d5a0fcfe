import { check } from "./checker/check.ts";
import { countFigures, type Figures } from "./checker/figures.ts";
import type { History } from "./checker/history.ts";
import { checkModels } from "./checker/models.ts";
import type { Fate } from "./checker/outside/wishes.ts";
import { tellStories } from "./checker/stories.ts";
import { drawTimeline } from "./checker/timeline.ts";
import { PROMISES, type Violation } from "./checker/violation.ts";

/** Of each promise so many are told with their timeline; the rest is counted. */
const TOLD = 2;

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly figures: Figures;
  /** Unjudged: nothing is violated that could be judged, and answers or readers were late while other work took the machine. */
  readonly outcome: "good" | "violated" | "unjudged";
  readonly text: string;
}

export function judgeHistory(history: History): Verdict {
  const stories = tellStories(history);
  const violations = [...check(history, stories), ...checkModels(history, stories)];
  const figures = countFigures(history, stories);
  const names = Object.keys(PROMISES) as (keyof typeof PROMISES)[];
  const lines = names.flatMap((name) => {
    const broken = violations.filter(({ promise }) => promise === name);
    if (broken.length === 0) return [];
    const told = broken.slice(0, TOLD).flatMap(({ taskId, text, at }) => {
      const when = at === null ? "" : ` at ${((at - history.beganAt) / 1000).toFixed(3)} s`;
      const story = taskId === null ? [] : drawTimeline(stories.find(taskId), history);
      return [`  ${taskId ?? ""}${when}: ${text}`, ...story.map((line) => `    ${line}`)];
    });
    const others = broken.slice(TOLD, TOLD + 20).map(({ taskId, text }) => `  ${taskId ?? ""}: ${text}`);
    return [`VIOLATED ${broken.length} times: ${name}, ${PROMISES[name]}`, ...told, ...others, ""];
  });
  const { late, readers } = figures.unjudged;
  const doubts = [...(late > 0 ? ["answers"] : []), ...(readers > 0 ? ["what readers were told last"] : [])];
  const verdict =
    violations.length === 0 ? "0 violations" : `${violations.length} violations: ${summary(violations)}`;
  const doubt = doubts.map(
    (what) => `NOT JUDGED: the machine was too slow to judge ${what}, other work took it`,
  );
  const text = [...lines, ...formatFigures(history, figures), verdict, ...doubt].join("\n");
  return {
    violations,
    figures,
    text,
    outcome: violations.length > 0 ? "violated" : doubts.length > 0 ? "unjudged" : "good",
  };
}

export function summary(violations: readonly Violation[]): string {
  const counts = new Map<string, number>();
  for (const { promise } of violations) counts.set(promise, (counts.get(promise) ?? 0) + 1);
  return [...counts].map(([promise, count]) => `${promise} ${count}`).join(", ");
}

function formatFigures(history: History, figures: Figures): string[] {
  const { fates } = history.rest;
  const faults = Object.entries(figures.faults).map(([kind, count]) => `${kind} ${count}`);
  return [
    ...(fates === undefined ? formatRows(figures) : formatFates(fates)),
    `calls      ${figures.calls}, polls ${figures.polls}, notifications ${figures.notifications}`,
    `duplicates ${figures.duplicates} tasks called again after a good answer that could not be recorded`,
    `requests   ${figures.requests}, of which ${figures.refused} without an answer or refused; slowest answer ${seconds(figures.slowestAnswerMs)}`,
    `faults     ${faults.length === 0 ? "none" : faults.join(", ")}`,
    `breakers   ${formatBreakers(history)}`,
    `latency    to the database, each round trip: ${figures.latencies.map(formatLatencies).join("; ") || "none"}`,
    `machine    held everybody up for ${seconds(figures.slowestMachineMs)} at most; other work took it for ${seconds(figures.crowdedMs)}`,
    `not judged ${figures.unjudged.answers} answers of that time, ${figures.unjudged.late} of them late; ${figures.unjudged.readers} readers that were behind at the end`,
  ];
}

function formatRows(figures: Figures): string[] {
  return [
    `tasks      ${figures.tasks}: ${figures.completed} completed, ${figures.failed} failed, ${figures.cancelled} cancelled, ${figures.deleted} deleted`,
    `schedules  ${figures.firings} firings; ${figures.bulks} bulk actions retried ${figures.retried} tasks`,
    `after kill -9: given back p99 ${seconds(figures.givenBackP99Ms)}, called again p99 ${seconds(figures.rerunP99Ms)}`,
    `told       ${figures.events} events to readers, ${figures.deliveries} deliveries to webhooks`,
  ];
}

function formatFates(fates: readonly Fate[]): string[] {
  const count = (status: string) => fates.filter((fate) => fate.status === status).length;
  return [`tasks      ${fates.length}: ${count("completed")} completed, ${count("failed")} failed`];
}

function formatBreakers({ spells = [], breakers = [] }: History): string {
  const opened = new Set(breakers.flatMap(({ held }) => held.map(({ openedAt }) => openedAt)));
  return `${spells.length} times a target failed, ${opened.size} times a breaker was seen to open`;
}

function seconds(ms: number | null): string {
  return ms === null ? "none" : `${(ms / 1000).toFixed(1)} s`;
}

function formatLatencies(shares: ReadonlyMap<number, number>, index: number): string {
  const parts = [...shares]
    .sort(([one], [other]) => one - other)
    .map(([ms, share]) => `${ms} ms ${Math.round(share * 100)} %`);
  return `node ${index + 1} ${parts.join(", ")}`;
}
