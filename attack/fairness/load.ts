import { setTimeout as sleep } from "node:timers/promises";
import { LIMIT_NAMES, LIMITS } from "../../packages/server/src/domain/limits.ts";
import { parseId } from "../../packages/server/src/domain/public-id.ts";
import type { Scene, Stage } from "../scene.ts";

export const DAY = 86_400;
const OF_BATCH = 500;

/** The limits of the free plan, but for its 60 requests a minute and the counts in `lifted`. */
export function freeLimits(lifted: readonly string[]): string {
  const kept = LIMIT_NAMES.filter((name) => !lifted.includes(name));
  return JSON.stringify(Object.fromEntries(kept.map((name) => [name, LIMITS[name].free])));
}

export interface Attacker {
  readonly key: string;
  must(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<unknown>;
  /** The same, and again where the team's share is used up. */
  patiently(method: string, path: string, body: unknown): Promise<unknown>;
  /** Creates tasks by batches; each must be accepted. */
  create(tasks: readonly object[]): Promise<void>;
}

/** A team with the limits of the free plan that one person may have several of. */
export async function attacker(stage: Stage, lifted: readonly string[] = []): Promise<Attacker> {
  const { key, id } = await stage.team({ plan: "enterprise", owner: "mallory@example.com" });
  await stage.rows("update teams set limits = $1::jsonb where public_id = $2", [
    freeLimits(lifted),
    parseId("team", id),
  ]);
  const must: Attacker["must"] = async (method, path, body, headers) =>
    (await stage.must(method, path, { key, body, ...(headers && { headers }) })).body;
  /** Beyond its share of the event loop a team is answered 429: its program tries again a second later. */
  const patiently = async (method: string, path: string, body: unknown): Promise<unknown> => {
    for (;;) {
      const answer = await stage.request(method, path, { key, body });
      if (answer.status < 300) return answer.body;
      if (answer.status !== 429)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      await sleep(1_000);
    }
  };
  return {
    key,
    must,
    patiently,
    async create(tasks) {
      for (let at = 0; at < tasks.length; at += OF_BATCH) {
        const part = tasks.slice(at, at + OF_BATCH);
        requireAccepted(await patiently("POST", "/v1/tasks/batch", { tasks: part }));
      }
    },
  };
}

/** A batch answers 200 also where it refuses its items. */
export function requireAccepted(answer: unknown): void {
  if (/"error"/.test(JSON.stringify(answer)))
    throw new Error(`Items were refused: ${JSON.stringify(answer).slice(0, 400)}`);
}

/**
 * The load of one actor. `worked` counts what the actor has done; a load that gives it nothing to do shows nothing, which is a miss.
 */
export function actorLoad(
  load: Pick<Scene, "what" | "seconds" | "env" | "prepare"> & {
    readonly worked: string;
    readonly least?: number;
  },
): Scene {
  const { worked, least = 1, ...scene } = load;
  return {
    ...scene,
    isFairness: true,
    async check(stage) {
      const [row] = await stage.rows<{ count: number }>(`select (${worked})::float8 as count`);
      const count = row?.count ?? 0;
      return count >= least ? [] : [`its actor did ${count} of at least ${least}: the load shows nothing`];
    },
  };
}

export async function untilAborted(
  signal: AbortSignal,
  everyMs: number,
  work: () => Promise<unknown>,
): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleep(everyMs);
  }
}

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
