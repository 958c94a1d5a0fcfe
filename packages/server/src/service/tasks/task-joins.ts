import { debouncedMs } from "../../domain/dedupe.ts";
import { type DedupeVerdict, judgeDedupe, type KeyHolder } from "../../domain/dedupe-verdict.ts";
import { Problem } from "../../domain/problem.ts";
import { reachOf } from "../../domain/reach.ts";
import type { NewTask } from "../../domain/task.ts";
import type { AcceptanceDeps } from "../../domain/task-acceptance.ts";
import type { RetriedTask, TaskChanges } from "../../domain/task-changes.ts";
import type { Sql } from "../../store/sql.ts";
import { bindKeys, takeKeys } from "../../store/tasks/bound-keys.ts";
import {
  type HeldTask,
  keepDedupeKeys,
  keyName,
  keyOf,
  type LockedKey,
  lockDedupeKeys,
  readDedupeClocks,
  readHeldTasks,
} from "../../store/tasks/dedupe-keys.ts";
import { existingQueues } from "../../store/tasks/queues.ts";
import { NO_WORKER } from "../../store/tasks/tallies.ts";
import { type Accepted, insertTasks } from "../../store/tasks/task-intake.ts";
import { type Replacement, replaceTasks } from "../../store/tasks/task-replacements.ts";
import { whyRefused } from "./refusal.ts";

/** What became of a request with a deduplication key. */
export type Joined =
  | { readonly kind: "created"; readonly accepted: Accepted }
  | { readonly kind: "deduplicated"; readonly taskId: string }
  | {
      readonly kind: "replaced";
      readonly taskId: string;
      /** The id of the task's callback: as it is stored, or new. */
      readonly callbackSealed: string | null;
      readonly callbackId: string | null;
    }
  | Problem
  /** Its idempotency key is taken. */
  | null;

export interface JoinedTasks {
  /** In the order of the tasks. */
  readonly results: readonly Joined[];
  /** To be reported once the transaction is committed. */
  report(changes: Pick<TaskChanges, "created" | "replaced">): void;
}

/** A key during the transaction: its holder changes with each request, in their order. */
interface KeyState {
  readonly locked: LockedKey;
  holder: (KeyHolder & { readonly id: string }) | null;
  created: NewTask | null;
  /** The last request that replaces the holder's. */
  replacement: NewTask | null;
}

/**
 * Creates or joins tasks in the given transaction, in their order. Of several requests that replace the same task the last
 * one is stored.
 */
export async function joinTasks(
  sql: Sql,
  tasks: readonly NewTask[],
  newCallback: AcceptanceDeps["newCallback"],
): Promise<JoinedTasks> {
  const keys = [...new Map(tasks.map((task) => [keyName(keyOf(task)), keyOf(task)])).values()];
  const locked = await lockDedupeKeys(sql, keys);
  const held = await readHeldTasks(sql, locked);
  const nowOf = await readDedupeClocks(sql, keys);
  const queues = await existingQueues(sql, tasks);
  const isFree = await takeFirstKeys(sql, tasks);
  const states = new Map(locked.map((key) => [keyName(key), stateOf(key, held)]));

  const verdicts = tasks.map((task): DedupeVerdict | null => {
    const state = states.get(keyName(keyOf(task)));
    if (state === undefined || task.dedupe === null) throw new Error("A deduplication key was not locked");
    if (!isFree(task)) return null;
    if (!queues(task)) return new Problem("queue_not_found", { name: task.queue });
    const verdict = judgeDedupe({ ...task, dedupe: task.dedupe }, state.holder, nowOf(task));
    if (verdict === "create") {
      state.created = task;
      state.holder = { ...task, dedupe: task.dedupe, createdMs: nowOf(task), isUntouched: true };
    } else if (verdict === "replace") state.replacement = task;
    return verdict;
  });

  const created = await insertCreated(sql, states.values());
  const isRefused = ({ created: task }: KeyState) => task !== null && !created.has(task.id);
  const refusals = new Map<string, Problem>();
  /** Of tasks with the same queue and flow, asked for once. */
  const reasons = new Map<string, Problem>();
  for (const state of states.values()) {
    if (state.created === null || !isRefused(state)) continue;
    state.replacement = null;
    const { teamId, sandbox, queue, flow } = state.created;
    const place = `${teamId} ${sandbox} ${queue} ${flow?.key}`;
    const reason = reasons.get(place) ?? (await whyRefused(sql, reachOf(teamId, sandbox), state.created));
    reasons.set(place, reason);
    refusals.set(keyName(keyOf(state.created)), reason);
  }
  const replacements = [...states.values()].flatMap((state) =>
    replacementOf(state, held, nowOf, newCallback),
  );
  const replacementsById = new Map(replacements.map((each) => [each.task.id, each]));
  const replaced = await replaceTasks(sql, replacements);
  await keepDedupeKeys(
    sql,
    [...states.values()].flatMap((state) => keptKey(state, replacements)),
  );
  const results = tasks.map((task, index): Joined => {
    const verdict = verdicts[index] ?? null;
    const state = states.get(keyName(keyOf(task)));
    if (verdict === null || verdict instanceof Problem) return verdict;
    const refusal = refusals.get(keyName(keyOf(task)));
    if (refusal !== undefined) return refusal;
    if (verdict === "create") {
      const accepted = created.get(task.id);
      if (accepted === undefined) throw new Error("A task was neither created nor refused");
      return { kind: "created", accepted };
    }
    const taskId = state?.holder?.id ?? "";
    if (verdict === "deduplicate") return { kind: "deduplicated", taskId };
    const { sealed = null, shownId = null } = replacementsById.get(taskId) ?? {};
    return { kind: "replaced", taskId, callbackSealed: sealed, callbackId: shownId };
  });
  await bindKeys(
    sql,
    tasks.flatMap((task, index) => {
      const result = results[index] ?? null;
      if (result === null || task.idempotency === null) return [];
      return { task, ...bindingOf(task, result) };
    }),
  );
  return {
    results,
    report(changes) {
      for (const { created: task } of states.values()) {
        const accepted = task === null ? undefined : created.get(task.id);
        if (task !== null && accepted !== undefined) changes.created(task, accepted);
      }
      for (const row of replaced) {
        const { task } = replacementsById.get(row.id) ?? {};
        if (task === undefined) continue;
        const { teamId, queue, sandbox } = task;
        const flow = task.flow?.key ?? null;
        changes.replaced({ ...row, teamId, queue, flow, sandbox } satisfies RetriedTask);
      }
    },
  };
}

/** Of requests that share an idempotency key the first takes it; the others find it taken. */
async function takeFirstKeys(sql: Sql, tasks: readonly NewTask[]): Promise<(task: NewTask) => boolean> {
  const firsts = new Map<string, NewTask>();
  for (const task of tasks) {
    if (task.idempotency === null) continue;
    const name = `${task.teamId} ${task.sandbox} ${task.idempotency.key}`;
    if (!firsts.has(name)) firsts.set(name, task);
  }
  const taken = await takeKeys(sql, [...firsts.values()]);
  return ({ id, idempotency }) => idempotency === null || taken.has(id);
}

function stateOf(locked: LockedKey, held: ReadonlyMap<string, HeldTask>): KeyState {
  const holder = locked.taskId === null ? null : (held.get(locked.taskId) ?? null);
  return { locked, holder, created: null, replacement: null };
}

async function insertCreated(sql: Sql, states: Iterable<KeyState>): Promise<ReadonlyMap<string, Accepted>> {
  const tasks = [...states].flatMap(({ created }) => created ?? []);
  if (tasks.length === 0) return new Map();
  // Their idempotency keys are taken already.
  const submissions = tasks.map((task) => ({ task: { ...task, idempotency: null }, reservation: null }));
  const accepted = await insertTasks(sql, submissions, NO_WORKER);
  return new Map(accepted.flatMap((each) => (each === null ? [] : [[each.id, each] as const])));
}

interface JoinedReplacement extends Replacement {
  /** The stored id of the task's callback; null if it has none or it cannot be read. */
  readonly sealed: string | null;
  /** A new one. */
  readonly shownId: string | null;
}

/** The id of the callback stays if the task has one. It is stored with the call only if the call contains it. */
function replacementOf(
  { locked, holder, created, replacement }: KeyState,
  held: ReadonlyMap<string, HeldTask>,
  nowOf: (task: NewTask) => number,
  newCallback: AcceptanceDeps["newCallback"],
): JoinedReplacement[] {
  if (replacement === null || holder === null || replacement.dedupe === null) return [];
  const { id } = holder;
  const { teamId, dedupe } = replacement;
  const dueMs = dedupe.mode === "debounce" ? debouncedMs(dedupe, holder.createdMs, nowOf(replacement)) : null;
  const task = { ...replacement, id, idempotency: null };
  const known = created ? (created.dedupe?.callbackSealed ?? null) : locked.callbackSealed;
  const before = held.get(id);
  const sealed = known ?? (created ? (created.callback?.sealed ?? null) : (before?.callbackSealed ?? null));
  const hasCallback = created ? created.callback !== null : before?.hasCallback === true;
  if (replacement.callback === null)
    return [{ task, dueMs, callback: { hash: null, sealed: null }, sealed: null, shownId: null }];
  const isNamed = replacement.callback.sealed !== null;
  if (hasCallback && (!isNamed || sealed !== null)) {
    const callback = { hash: null, sealed: isNamed ? sealed : null };
    return [{ task, dueMs, callback, sealed, shownId: null }];
  }
  const made = newCallback(teamId, id, { isNamed, isRepeatable: true });
  const callback = { hash: made.hash, sealed: isNamed ? made.sealed : null };
  return [{ task, dueMs, callback, sealed: made.sealed, shownId: made.id }];
}

function keptKey({ locked, holder, created }: KeyState, replacements: readonly JoinedReplacement[]) {
  const replacement = replacements.find(({ task }) => task.id === holder?.id);
  const dedupe = (replacement?.task ?? created)?.dedupe;
  if (holder === null || !dedupe) return [];
  const own = created ? (created.dedupe?.callbackSealed ?? null) : locked.callbackSealed;
  const callbackSealed = replacement?.sealed ?? own;
  return [{ ...locked, taskId: holder.id, callbackSealed, keptSeconds: dedupe.windowSeconds }];
}

function bindingOf(task: NewTask, result: Exclude<Joined, null>) {
  if (result instanceof Problem) return { answeredWith: null, callbackSealed: null };
  if (result.kind === "created")
    return { answeredWith: task.id, callbackSealed: task.idempotency?.callbackSealed ?? null };
  const callbackSealed = result.kind === "replaced" ? result.callbackSealed : null;
  return { answeredWith: result.taskId, callbackSealed };
}
