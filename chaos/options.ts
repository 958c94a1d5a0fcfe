import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { randomSeed, readOptions } from "../tools/options.ts";
import { LATENCIES_MS } from "./rig/latency.ts";
import { PLANTS } from "./rig/plants.ts";
import { SCENES } from "./size/scenes.ts";

export const usage = `npm run chaos -- [options]

  --minutes n       how long faults rage (default 1; fractions allowed); waiting for calm comes on top
  --nodes n         how many nodes (default 3)
  --seed n          draws the same faults and requests again (default: a new one, printed)
  --rate n          tasks a second (default 12)
  --latency ms      every round trip to the database takes ${LATENCIES_MS.join(", ")} ms (default: drawn for each node, and again during the run)
  --calm            no faults at all, and no latency unless it is given
  --keep directory  keeps the evidence: the history, the logs of all processes, the verdict
  --dist directory  another build of the server than this checkout's
  --check directory instead: checks evidence that was kept
  --plant name      with a bug put in, which must be found: ${Object.keys(PLANTS).join(", ")}
  --outside         instead: ordered queues, flows, rates, breakers, keys and priorities, checked by answers and calls alone
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
  /** Null: drawn. */
  readonly latency: number | null;
  readonly calm: boolean;
  readonly keep: string | null;
  readonly dist: string;
  readonly check: string | null;
  readonly plant: string | null;
  readonly prove: boolean;
  readonly outside: boolean;
  readonly failover: boolean;
  readonly fairness: boolean;
  readonly size: string | null;
  readonly upgradeFrom: string | null;
}

/** Throws an error that names the wrong option. */
export function parseOptions(args: string[]): Options {
  const given = readOptions(args, {
    minutes: "text",
    nodes: "text",
    seed: "text",
    rate: "text",
    latency: "text",
    calm: "flag",
    keep: "text",
    check: "text",
    dist: "text",
    plant: "text",
    prove: "flag",
    outside: "flag",
    failover: "flag",
    fairness: "flag",
    size: "text",
    "upgrade-from": "text",
  });
  const [plant = null] = given.names("plant", Object.keys(PLANTS)) ?? [];
  const [size = null] = given.names("size", [...Object.keys(SCENES), "all"]) ?? [];
  const [latency = null] = given.names("latency", LATENCIES_MS.map(String)) ?? [];
  const dist = given.text("dist") ?? fileURLToPath(new URL("../packages/server/dist", import.meta.url));
  return {
    seconds: given.number("minutes", { initial: 1, max: 24 * 60 }) * 60,
    nodes: given.number("nodes", { initial: 3, max: 9, isWhole: true }),
    seed: given.number("seed", { initial: randomSeed(), max: 2 ** 32, isWhole: true }),
    rate: given.number("rate", { initial: 12, max: 1000 }),
    latency: latency === null ? null : Number(latency),
    calm: given.flag("calm"),
    keep: given.text("keep"),
    dist: resolve(dist),
    check: given.text("check"),
    plant,
    prove: given.flag("prove"),
    outside: given.flag("outside"),
    failover: given.flag("failover"),
    fairness: given.flag("fairness"),
    size,
    upgradeFrom: given.text("upgrade-from"),
  };
}
