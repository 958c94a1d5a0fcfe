// What a process of the tests takes. Loaded into each of them by `test.mjs --times`, which reads what they write.
import { appendFileSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

const TICKS_PER_SECOND = 100;

if (process.env.TEST_TIMES !== undefined && process.env.NODE_TEST_CONTEXT !== undefined) {
  process.on("exit", () => {
    const [, file] = process.argv;
    const took = { file, cpu: cpuSecondsOf("self"), wall: performance.now() / 1000 };
    appendFileSync(process.env.TEST_TIMES, `${JSON.stringify(took)}\n`);
  });
}

/** Of a process and of those of its children that have ended. What `kill -9` made an orphan of counts nowhere. */
export function cpuSecondsOf(pid) {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? "";
    const [user, system, childrenUser, childrenSystem] = afterName.split(" ").slice(11, 15).map(Number);
    return (user + system + childrenUser + childrenSystem) / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return pid === "self" ? (user + system) / 1e6 : 0;
  }
}

/** The dearest first. */
export async function readTimes(file) {
  const lines = (await readFile(file, "utf8")).trim().split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line)).sort((one, other) => other.cpu - one.cpu);
}
