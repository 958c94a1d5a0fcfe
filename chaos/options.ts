import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PLANTS } from "./rig/plants.ts";
import { SCENES } from "./size/scenes.ts";

export const usage = `npm run chaos -- [options]

  --minutes n       how long faults rage (default 1; fractions allowed); waiting for calm comes on top
  --nodes n         how many nodes (default 3)
  --seed n          draws the same faults and requests again (default: a new one, printed)
  --rate n          tasks a second (default 12)
  --calm            no faults at all
  --keep directory  keeps the evidence: the history, the logs of all processes, the verdict
  --dist directory  another build of the server than this checkout's
  --check directory instead: checks evidence that was kept
  --plant name      with a bug put in, which must be found: ${Object.keys(PLANTS).join(", ")}
  --failover        instead: a replicated pair of PostgreSQL servers, the primary killed, the standby promoted
  --fairness        instead: 100,000 tasks of one team at a target that hangs, and how long another team's wait
  --size scene      instead: one server at the limits of its machine: ${[...Object.keys(SCENES), "all"].join(", ")}
  --upgrade-from r  instead: three nodes of the commit r under load are replaced by this checkout's, one after the other
  --prove           instead: every plant, one after the other; fails if one is not found
`;

export interface Options {
  readonly seconds: number;
  readonly nodes: number;
  readonly seed: number;
  readonly rate: number;
  readonly calm: boolean;
  readonly keep: string | null;
  readonly dist: string;
  readonly check: string | null;
  readonly plant: string | null;
  readonly prove: boolean;
  readonly failover: boolean;
  readonly fairness: boolean;
  readonly size: string | null;
  readonly upgradeFrom: string | null;
}

/** Throws an error that names the wrong option. */
export function parseOptions(args: string[]): Options {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    args,
    options: {
      minutes: text,
      nodes: text,
      seed: text,
      rate: text,
      calm: flag,
      keep: text,
      check: text,
      dist: text,
      plant: text,
      prove: flag,
      failover: flag,
      fairness: flag,
      size: text,
      "upgrade-from": text,
      help: flag,
    },
  });
  if (values.help) throw new Error("");
  const number = (name: "minutes" | "nodes" | "seed" | "rate", initial: number, max: number): number => {
    const value = values[name] === undefined ? initial : Number(values[name]);
    if (!(value > 0 && value <= max)) throw new Error(`--${name} must be a number up to ${max}`);
    return value;
  };
  if (values.plant !== undefined && PLANTS[values.plant] === undefined)
    throw new Error(`--plant: there is no plant "${values.plant}"`);
  if (values.size !== undefined && values.size !== "all" && SCENES[values.size] === undefined)
    throw new Error(`--size: there is no scene "${values.size}"`);
  return {
    seconds: number("minutes", 1, 24 * 60) * 60,
    nodes: Math.floor(number("nodes", 3, 9)),
    seed: Math.floor(number("seed", Math.floor(Math.random() * 1e9) + 1, 2 ** 32)),
    rate: number("rate", 12, 1000),
    calm: values.calm ?? false,
    keep: values.keep ?? null,
    dist: resolve(values.dist ?? fileURLToPath(new URL("../packages/server/dist", import.meta.url))),
    check: values.check ?? null,
    plant: values.plant ?? null,
    prove: values.prove ?? false,
    failover: values.failover ?? false,
    fairness: values.fairness ?? false,
    size: values.size ?? null,
    upgradeFrom: values["upgrade-from"] ?? null,
  };
}
