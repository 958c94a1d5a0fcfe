import { parseArgs } from "node:util";
import type { Options } from "./run-options.ts";
import { scenarios } from "./scenarios/catalog.ts";
import { subjects } from "./subjects/catalog.ts";

export const usualStarts = 7;
// With 2,000 the compiler of Node was still at work during the measurement; with 15,000 it is done.
const normal = { starts: 0, count: 20_000, warmUp: 15_000, seconds: 10 };
// A look, in less than five minutes: enough to see that all of it works, too little for a figure to quote.
const quick = { starts: 2, count: 3_000, warmUp: 2_000, seconds: 2 };

export const usage = `npm run bench -- [options]

  --quick            the light scenarios with few tasks and ${quick.starts} starts, in less than five minutes
  --scenario a,b     only these: ${scenarios.map(({ name }) => name).join(", ")}
  --only a,b         only these subjects: ${subjects.map(({ name }) => name).join(", ")}
  --check            end with exit code 1 where a goal is missed
  --grouped          give the peers the group commit of the skeleton, see bench/peers/README.md
  --json file        where to write everything that was measured (default: bench/results/<time>.json)
  --plot             draw the pictures of docs/performance.md from this run
  --docs a.json,b.json  run nothing: write the verdicts of these results into docs/performance.md
  --starts n         process starts of each variant (default ${usualStarts}; slots ${scenarios.find(({ name }) => name === "slots")?.starts}, the largest scenarios 1 or 3)
  --count n          tasks per throughput measurement (default ${normal.count})
  --warm-up n        tasks before it (default ${normal.warmUp})
  --seconds n        length of a latency measurement (default ${normal.seconds})
  --scale x          multiplies the rows of the large scenarios, between 0.001 and 1 (default 1)
`;

/** Throws an error that names the wrong option. */
export function parseOptions(args: string[]): Options {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    args,
    options: {
      starts: text,
      count: text,
      "warm-up": text,
      seconds: text,
      only: text,
      scenario: text,
      json: text,
      scale: text,
      docs: text,
      quick: flag,
      check: flag,
      grouped: flag,
      plot: flag,
      help: flag,
    },
  });
  if (values.help) throw new Error("");
  const defaults = values.quick ? quick : normal;
  const integer = (name: "starts" | "count" | "warm-up" | "seconds", initial: number, max: number) => {
    const given = values[name];
    if (given === undefined) return initial;
    const value = Number(given);
    if (!Number.isInteger(value) || value < 1 || value > max)
      throw new Error(`--${name} must be an integer between 1 and ${max}`);
    return value;
  };
  const scale = Number(values.scale ?? 1);
  if (!(scale >= 0.001 && scale <= 1)) throw new Error("--scale must be between 0.001 and 1");
  return {
    starts: integer("starts", defaults.starts, 100),
    count: integer("count", defaults.count, 1_000_000),
    warmUp: integer("warm-up", defaults.warmUp, 1_000_000),
    seconds: integer("seconds", defaults.seconds, 600),
    only: names("only", values.only, subjects),
    scenarios: names("scenario", values.scenario, scenarios),
    quick: values.quick ?? false,
    check: values.check ?? false,
    grouped: values.grouped ?? false,
    json: values.json ?? "",
    plot: values.plot ?? false,
    docs: values.docs?.split(",") ?? [],
    scale,
    rows: (count) => Math.round(count * scale),
  };
}

function names(option: string, given: string | undefined, known: readonly { name: string }[]): string[] {
  const list = given?.split(",") ?? [];
  for (const name of list) {
    if (!known.some((each) => each.name === name))
      throw new Error(`--${option}: "${name}" is none of ${known.map((each) => each.name).join(", ")}`);
  }
  return list;
}
