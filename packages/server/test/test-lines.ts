import assert from "node:assert/strict";
import type { Call } from "../src/domain/call.ts";
import type { Claim } from "../src/domain/claim.ts";
import type { Verdict } from "../src/domain/verdict.ts";
import { settleAttempts } from "../src/store/tasks/task-settlements.ts";
import type { TestServer } from "./test-server.ts";
import { settlementOf, type TestStore } from "./test-store.ts";

/* Tests of ordered queues and flows number their tasks: the path of a task's URL is its number. */

export const pathOf = (index: number) => `/${index}`;

export function callOf({ target }: TestServer, index: number): Call {
  return { method: "POST", url: `${target.url}${pathOf(index)}`, headers: {}, body: "{}" };
}

/** The paths that the target received, in order. */
export const called = ({ target }: TestServer) => target.calls.map(({ path }) => path);

/** Why a task waits: each reason's code, and the task that blocks it. */
export async function reasonsOf({ services, principal }: TestServer, id: string) {
  const { reasons } = await services.explanations.explain(principal, id);
  return reasons.map(({ code, blockedBy }) => [code, blockedBy?.id]);
}

/** Ends each held call until the target has received this many, and checks that there is never a second one. */
export async function endEach(server: TestServer, calls: number, ended = 0): Promise<void> {
  for (let count = ended + 1; count <= calls; count += 1) {
    await server.target.received(count);
    await server.quiet();
    assert.equal(server.target.held.length, 1);
    server.target.release(1);
    await server.settled(count);
  }
}

/** The node dies during the held call of task 0. The target must receive that task again, and task 1 after its end. */
export async function assertFirstStartsAgain(server: TestServer): Promise<void> {
  await server.target.received(1);
  await server.reapEverything();
  await server.engine.lease.renewOnce();
  await server.look();
  await server.target.received(2);
  server.target.release();
  await server.target.received(3);
  server.target.release();
  assert.deepEqual(called(server), [0, 0, 1].map(pathOf));
}

export const FAILED: Verdict = { kind: "failed", reason: "retries_exhausted", error: "500", result: null };
export const WAITING: Verdict = { kind: "waiting" };

/** Settles the attempt of a claim in the store. Without a verdict, the task completes. */
export async function settle(
  { database }: TestStore,
  claimed: Claim | undefined,
  verdict?: Verdict,
): Promise<void> {
  assert.ok(claimed);
  const [settled] = await settleAttempts(database, [settlementOf(claimed, verdict)], claimed.workerId);
  assert.ok(settled);
}

/** Claims and completes until the line has no task to start. */
export async function drain(store: TestStore, claim: () => Promise<Claim | undefined>): Promise<string[]> {
  const ids: string[] = [];
  for (let each = await claim(); each !== undefined; each = await claim()) {
    ids.push(each.id);
    await settle(store, each);
  }
  return ids;
}
