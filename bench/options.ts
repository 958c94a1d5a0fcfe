import { parseArgs } from "node:util";
import { subjects } from "./subjects/catalog.ts";

export const usage = `npm run bench -- [options]

  --starts n        process starts of each subject (default 5)
  --count n         tasks per throughput measurement (default 20000)
  --connections n   connections that submit in a closed loop (default 64)
  --concurrency n   calls in flight, the queue's concurrency (default 256)
  --rate n          tasks/s of the latency measurement (default: a quarter of the first start's throughput)
  --seconds n       length of the latency measurement (default 5)
  --only name       one subject: ${subjects.map(({ name }) => name).join(", ")}
  --soak n          instead: one start, n tasks in tenths, rate and memory of each (default subject: bellhop)
  --idle            instead: CPU of an idle subject over 10 s (default subject: bellhop)
`;

export interface Options {
  starts: number;
  count: number;
  connections: number;
  concurrency: number;
  /** 0: a quarter of the first start's throughput. */
  rate: number;
  seconds: number;
  only: string;
  /** 0: no soak. */
  soak: number;
  idle: boolean;
}

/** Throws an error that names the wrong option. */
export function parseOptions(args: string[]): Options {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args,
    options: {
      starts: text,
      count: text,
      connections: text,
      concurrency: text,
      rate: text,
      seconds: text,
      only: text,
      soak: text,
      idle: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help) throw new Error("");
  const integer = (
    name: Exclude<keyof typeof values, "idle" | "help">,
    initial: number,
    max: number,
  ): number => {
    const value = values[name] === undefined ? initial : Number(values[name]);
    if (!Number.isInteger(value) || value > max || (value < 1 && value !== initial)) {
      throw new Error(`--${name} must be an integer between 1 and ${max}`);
    }
    return value;
  };
  const only = values.only ?? "";
  if (only !== "" && !subjects.some(({ name }) => name === only))
    throw new Error(`--only: no subject "${only}"`);
  return {
    starts: integer("starts", 5, 100),
    count: integer("count", 20_000, 1_000_000),
    connections: integer("connections", 64, 1000),
    concurrency: integer("concurrency", 256, 1000),
    rate: integer("rate", 0, 100_000),
    seconds: integer("seconds", 5, 600),
    only,
    soak: integer("soak", 0, 10_000_000),
    idle: values.idle ?? false,
  };
}
