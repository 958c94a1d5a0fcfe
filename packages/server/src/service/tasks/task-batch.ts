import type { Principal } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import type { BatchedTask, CreatedTask, NewTask } from "../../domain/task.ts";
import type { AcceptanceDeps } from "../../domain/task-acceptance.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import type { Database } from "../../store/sql.ts";
import { NO_WORKER } from "../../store/tasks/tallies.ts";
import { type Accepted, insertTasks } from "../../store/tasks/task-intake.ts";
import { inTurns } from "../turns.ts";
import { whyRefused } from "./refusal.ts";
import { areSame } from "./same-request.ts";
import { type Joined, type JoinedTasks, joinTasks } from "./task-joins.ts";

/** A parsed item of a batch: a request, or its refusal. */
export type BatchItem = TaskRequest | Problem;
export type BatchResult = BatchedTask | Problem;

/** The steps of creating a single task. */
export interface BatchDeps {
  readonly database: Database;
  /** The earlier task with the request's idempotency key. */
  replay(principal: Principal, request: TaskRequest): Promise<BatchedTask | null>;
  /** Everything except storing it. */
  prepare(principal: Principal, request: TaskRequest): PreparedTask | Promise<PreparedTask>;
  readonly newCallback: AcceptanceDeps["newCallback"];
  /** The answer to a request with a deduplication key; `gone` if the earlier task was deleted meanwhile. */
  showJoined(
    principal: Principal,
    joined: Exclude<Joined, null>,
    finish: PreparedTask["finish"],
  ): Promise<BatchedTask | "gone">;
  readonly changes: Pick<TaskChanges, "created" | "replaced">;
}

export interface PreparedTask {
  readonly task: NewTask;
  finish(accepted: Accepted): CreatedTask;
}

/** A key may be taken or freed between two lookups, as for a single task. */
const ROUNDS = 3;

/** Starts the work on each item of a team's batch, and lets other requests run in between. */
export async function settleInTurns<Item, Result>(
  { teamId }: Pick<Principal, "teamId">,
  items: readonly Item[],
  work: (item: Item, index: number) => Result | Promise<Result>,
): Promise<PromiseSettledResult<Awaited<Result>>[]> {
  const start = async (item: Item, index: number) => work(item, index);
  const started = await inTurns(teamId, items, (item, index) => Promise.allSettled([start(item, index)]));
  return (await Promise.all(started)).flat();
}

/** Each item separately: a refusal does not affect the others. The intake stores them in a few commits. */
async function createEach(
  principal: Principal,
  items: readonly BatchItem[],
  create: (request: TaskRequest, index: number) => Promise<BatchedTask>,
): Promise<BatchResult[]> {
  const settled = await settleInTurns(principal, items, (item, index) => {
    if (item instanceof Problem) throw item;
    return create(item, index);
  });
  return toResults(settled);
}

export function toResults<Created>(settled: readonly PromiseSettledResult<Created>[]): (Created | Problem)[] {
  const results = settled.map((each) => {
    if (each.status === "fulfilled") return each.value;
    if (each.reason instanceof Problem) return each.reason;
    throw each.reason;
  });
  // Nothing was stored, and a retry makes sense: answered as for a single task.
  const away = results.find((result) => result instanceof Problem && result.status === 503);
  if (away !== undefined && results.every((result) => result instanceof Problem)) throw away;
  return results;
}

/** Items with deduplication keys may depend on those before them; all others are independent. */
export async function createInOrder(
  principal: Principal,
  items: readonly BatchItem[],
  work: {
    create(request: TaskRequest): Promise<BatchedTask>;
    joinEach(requests: readonly TaskRequest[]): Promise<BatchResult[]>;
  },
): Promise<BatchResult[]> {
  const joining = items.flatMap((item, index) =>
    item instanceof Problem || item.dedupe === null ? [] : { item, index },
  );
  if (joining.length === 0) return createEach(principal, items, work.create);
  const joined = work.joinEach(joining.map(({ item }) => item));
  // Awaited below, after further turns.
  joined.catch(() => {});
  const places = new Map(joining.map(({ index }, place) => [index, place]));
  return createEach(principal, items, async (request, index) => {
    const place = places.get(index);
    if (place === undefined) return work.create(request);
    const result = (await joined)[place];
    if (result === undefined || result instanceof Problem) throw result;
    return result;
  });
}

/** All in one commit, or none: the first refused item refuses the batch. */
export async function createTogether(
  deps: BatchDeps,
  principal: Principal,
  items: readonly BatchItem[],
): Promise<BatchedTask[]> {
  const requests = items.map((item, index) => {
    if (item instanceof Problem) throw refused(index, item);
    return item;
  });
  for (let round = 1; ; round += 1) {
    const created = await storeTogether(deps, principal, requests, round === ROUNDS);
    if (created !== null) return created;
  }
}

/** Null if a key was taken meanwhile: the next round finds its task. */
async function storeTogether(
  deps: BatchDeps,
  principal: Principal,
  requests: readonly TaskRequest[],
  isLast: boolean,
): Promise<BatchedTask[] | null> {
  const earlier = await each(principal, requests, (request) => deps.replay(principal, request));
  const firsts = await firstsOf(deps.database, principal, requests, earlier);
  const prepared = await each(principal, requests, async (request, index) =>
    earlier[index] === null && firsts[index] === index ? deps.prepare(principal, request) : null,
  );
  const isNew = prepared.flatMap((one, index) => (one === null ? [] : [{ ...one, index }]));
  const stored = await store(deps, isNew);
  if (typeof stored === "number") {
    const request = requests[stored];
    if (!isLast && request?.idempotencyKey != null) return null;
    throw refused(stored, await whyRefused(deps.database, principal, request ?? { queue: "", flow: null }));
  }
  const created = new Map<number, BatchedTask>();
  for (const { task, finish, index } of isNew) {
    const accepted = stored.accepted.get(task.id);
    if (accepted === undefined) continue;
    created.set(index, finish(accepted));
    deps.changes.created(task, accepted);
  }
  stored.joined?.report(deps.changes);
  for (const [place, { finish, index }] of isNew.filter(isJoining).entries()) {
    const joined = stored.joined?.results[place] ?? null;
    const shown = joined === null ? "gone" : await deps.showJoined(principal, joined, finish);
    if (shown === "gone") throw refused(index, new Problem("task_not_found"));
    created.set(index, shown);
  }
  return requests.flatMap((_, index) => {
    const own = earlier[index] ?? created.get(index);
    const same = created.get(firsts[index] ?? index);
    return own ?? (same === undefined ? [] : { ...same, replayed: true });
  });
}

/** Of items that share a key the first creates the task; each has the index of its first. */
async function firstsOf(
  database: Database,
  principal: Principal,
  requests: readonly TaskRequest[],
  earlier: readonly (BatchedTask | null)[],
): Promise<number[]> {
  const byKey = new Map<string, number>();
  const firsts: number[] = [];
  for (const [index, request] of requests.entries()) {
    const { idempotencyKey: key } = request;
    const first = key === null || earlier[index] !== null ? index : (byKey.get(key) ?? index);
    firsts.push(first);
    if (key === null || earlier[index] !== null) continue;
    byKey.set(key, first);
    const other = requests[first];
    if (other !== undefined && !(await areSame(database, principal, request, other)))
      throw refused(index, new Problem("idempotency_conflict", { key }));
  }
  return firsts;
}

/** The index of the first item that could not be stored, in which case none is; or the results by id. */
async function store(
  { database, newCallback }: Pick<BatchDeps, "database" | "newCallback">,
  prepared: readonly { readonly task: NewTask; readonly index: number }[],
): Promise<
  { readonly accepted: ReadonlyMap<string, Accepted>; readonly joined: JoinedTasks | null } | number
> {
  if (prepared.length === 0) return { accepted: new Map(), joined: null };
  const joining = prepared.filter(isJoining);
  const plain = prepared.filter((one) => !isJoining(one));
  const submissions = plain.map(({ task }) => ({ task, reservation: null }));
  class Missing extends Error {
    readonly index: number;
    constructor(index: number) {
      super();
      this.index = index;
    }
  }
  try {
    return await database.transaction(async (sql) => {
      const accepted = new Map<string, Accepted>();
      // First: every transaction locks deduplication keys before idempotency keys.
      const joined =
        joining.length === 0
          ? null
          : await joinTasks(
              sql,
              joining.map(({ task }) => task),
              newCallback,
            );
      for (const [place, result] of (joined?.results ?? []).entries()) {
        const index = joining[place]?.index ?? 0;
        if (result instanceof Problem) throw refused(index, result);
        if (result === null) throw new Missing(index);
      }
      const stored = submissions.length === 0 ? [] : await insertTasks(sql, submissions, NO_WORKER);
      for (const [place, one] of stored.entries()) {
        if (one === null) throw new Missing(plain[place]?.index ?? 0);
        accepted.set(one.id, one);
      }
      return { accepted, joined };
    });
  } catch (error) {
    if (error instanceof Missing) return error.index;
    throw error;
  }
}

function isJoining({ task }: { readonly task: NewTask }): boolean {
  return task.dedupe !== null;
}

async function each<T>(
  principal: Principal,
  requests: readonly TaskRequest[],
  work: (request: TaskRequest, index: number) => Promise<T>,
): Promise<T[]> {
  const settled = await settleInTurns(principal, requests, work);
  return settled.map((one, index) => {
    if (one.status === "fulfilled") return one.value;
    throw refused(index, one.reason);
  });
}

/** Errors that the request did not cause are passed on. */
function refused(index: number, reason: unknown): unknown {
  if (!(reason instanceof Problem) || reason.status >= 500) return reason;
  const { message: error, code } = reason;
  const parameters = { index: String(index), reason: error, code };
  return new Problem("batch_refused", parameters, { details: [{ field: `tasks[${index}]`, error }] });
}
