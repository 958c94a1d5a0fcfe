import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const MARK = "ATTACK_IN_NAMESPACE";

/** Whether this process has a network of its own, in which nothing but loopback exists. */
export const hasOwnNetwork = process.env[MARK] === "1";

/**
 * Runs this runner again in a network namespace of its own, where that is allowed: no packet of an attack can leave the
 * machine then. Returns its exit code; null where it is not allowed, and the caller goes on here.
 */
export function runInOwnNetwork(args: readonly string[]): number | null {
  if (hasOwnNetwork) return null;
  const trial = spawnSync("unshare", ["-n", "ip", "link", "set", "lo", "up"], { stdio: "ignore" });
  if (trial.status !== 0) return null;
  const runner = fileURLToPath(new URL("../run.mjs", import.meta.url));
  const command = 'ip link set lo up && exec "$0" "$@"';
  const { status } = spawnSync("unshare", ["-n", "sh", "-c", command, process.execPath, runner, ...args], {
    stdio: "inherit",
    env: { ...process.env, [MARK]: "1" },
  });
  return status ?? 1;
}
