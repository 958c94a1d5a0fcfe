import type { Mutant } from "./mutant.ts";
import type { Outcome } from "./outcomes.ts";

export interface Judged {
  readonly mutant: Mutant;
  readonly outcome: Outcome;
}

/** In percent, of those that are bugs; null where there is none. */
export function scoreOf(judged: readonly Judged[]): number | null {
  const bugs = judged.filter(({ outcome: { kind } }) => kind !== "equivalent" && kind !== "invalid");
  const caught = bugs.filter(({ outcome: { kind } }) => kind === "caught");
  return bugs.length === 0 ? null : (100 * caught.length) / bugs.length;
}

/** Of all, by folder and by operator, as Markdown. */
export function describeScores(judged: readonly Judged[]): string {
  const kindOf = ({ sql, operator }: Mutant) => `${sql === null ? "ts" : "sql"} ${operator}`;
  return [
    "| | Tried | Caught | Survived | No coverage | Equivalent | Invalid | Score |",
    "|---|---|---|---|---|---|---|---|",
    row("**all**", judged),
    ...grouped(judged, ({ file }) => file.split("/")[0] ?? ""),
    ...grouped(judged, kindOf),
  ].join("\n");
}

function grouped(judged: readonly Judged[], key: (mutant: Mutant) => string): string[] {
  const keys = [...new Set(judged.map(({ mutant }) => key(mutant)))].sort();
  return keys.map((each) =>
    row(
      each,
      judged.filter(({ mutant }) => key(mutant) === each),
    ),
  );
}

function row(name: string, judged: readonly Judged[]): string {
  const count = (kind: Outcome["kind"]) => judged.filter(({ outcome }) => outcome.kind === kind).length;
  const score = scoreOf(judged);
  const cells = [
    judged.length,
    count("caught"),
    count("survived"),
    count("uncovered"),
    count("equivalent"),
    count("invalid"),
    score === null ? "" : `${score.toFixed(1)} %`,
  ];
  return `| ${name} | ${cells.join(" | ")} |`;
}
