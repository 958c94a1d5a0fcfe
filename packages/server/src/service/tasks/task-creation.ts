import type { Principal } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import type { CreatedTask, Creation, NewTask, TaskSettings } from "../../domain/task.ts";
import { followUpOf } from "../../domain/task-acceptance.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import type { Database } from "../../store/sql.ts";
import { findTakenKey, type TakenKey } from "../../store/tasks/idempotency-keys.ts";
import type { Accepted } from "../../store/tasks/task-intake.ts";
import type { ProviderService } from "./provider-service.ts";
import { whyRefused } from "./refusal.ts";
import { isRepeated } from "./same-request.ts";
import { type PreparedTask, settleInTurns, toResults } from "./task-batch.ts";
import type { Deduplication } from "./task-deduplication.ts";
import type { Joined } from "./task-joins.ts";
import type { TaskReader } from "./task-reader.ts";

export interface CreationDeps {
  readonly database: Database;
  /** Resolves once the task is on disk; null if its queue does not exist or its idempotency key is taken. */
  readonly submit: (task: NewTask) => Promise<Accepted | null>;
  readonly deduplication: Deduplication;
  /** Everything except storing it. */
  readonly prepare: (principal: Principal, request: TaskRequest) => PreparedTask | Promise<PreparedTask>;
  readonly findProvider: ProviderService["find"];
  /** As in the answer to the first request. */
  readonly readCallback: (
    teamId: number,
    key: Pick<TakenKey, "taskId" | "callbackSealed">,
  ) => Creation["callback"];
  readonly shownCallback: (id: string) => Creation["callback"];
}

/** Creates tasks, or finds the earlier ones that their requests repeat or join, as much of them as `earlier` reads. */
export function createTaskCreation<Earlier extends TaskSettings>(
  deps: CreationDeps,
  earlier: TaskReader<Earlier>,
) {
  type Created = CreatedTask | (Earlier & Creation);
  const { database } = deps;

  /** The earlier task with this idempotency key; null if there is none. */
  async function replay(principal: Principal, request: TaskRequest): Promise<Created | null> {
    const { idempotencyKey: key } = request;
    const { teamId, environment } = principal;
    const taken = key === null ? null : await findTakenKey(database, teamId, key, environment === "test");
    const task = taken === null ? null : await earlier.find(principal, taken.taskId);
    if (taken === null || task === null) return null;
    if (!(await isRepeated(database, principal, request, { ...taken, task })))
      throw new Problem("idempotency_conflict", { key: key ?? "" });
    return { callback: deps.readCallback(teamId, taken), replayed: true, joined: null, ...task };
  }

  /**
   * Answers with `otherwise()` if the queue does not exist or the idempotency key is taken. The promises are chained, because an
   * await would create another one for every task.
   */
  function submitNew<Otherwise extends null = never>(
    principal: Principal,
    request: TaskRequest,
    otherwise: () => Otherwise | Promise<Otherwise>,
  ): Promise<Created | Otherwise> {
    const store = (made: PreparedTask): Promise<Created | Otherwise> => {
      const { task, finish } = made;
      if (task.dedupe === null)
        return deps.submit(task).then((accepted) => (accepted === null ? otherwise() : finish(accepted)));
      const joined = join(principal, request, made, deps.deduplication.submit(task));
      return joined.then((created) => created ?? otherwise());
    };
    try {
      const prepared = deps.prepare(principal, request);
      return prepared instanceof Promise ? prepared.then(store) : store(prepared);
    } catch (refusal) {
      return Promise.reject(refusal);
    }
  }

  /** The answer to a request with a deduplication key. Null if its idempotency key is taken. */
  async function join(
    principal: Principal,
    request: TaskRequest,
    { finish }: PreparedTask,
    joining: Promise<Joined>,
  ): Promise<Created | null> {
    const joined = await joining;
    const created = joined === null ? null : await showJoined(principal, joined, finish);
    // The earlier task was deleted before it was read: its key is free.
    return created === "gone" ? submitNew(principal, request, () => null) : created;
  }

  async function showJoined(
    principal: Principal,
    joined: Exclude<Joined, null>,
    finish: PreparedTask["finish"],
  ): Promise<Created | "gone"> {
    if (joined instanceof Problem) throw joined;
    if (joined.kind === "created") return finish(joined.accepted);
    const { kind, taskId } = joined;
    const task = await earlier.find(principal, taskId);
    if (task === null) return "gone";
    const shown = { replayed: false, joined: kind } as const;
    if (joined.kind === "deduplicated") return { ...task, ...shown, callback: null };
    const { callbackId, callbackSealed } = joined;
    const sealed = callbackSealed === null ? null : Buffer.from(callbackSealed, "hex");
    const callback =
      callbackId === null
        ? deps.readCallback(principal.teamId, { taskId, callbackSealed: sealed })
        : deps.shownCallback(callbackId);
    return { ...task, ...shown, callback };
  }

  /** The items of a batch that have deduplication keys, in their order: each is submitted after those before it. */
  async function joinEach(
    principal: Principal,
    requests: readonly TaskRequest[],
  ): Promise<(Created | Problem)[]> {
    const prepared = await settleInTurns(principal, requests, (request) => {
      followUpOf(request, deps.findProvider);
      return deps.prepare(principal, request);
    });
    const created = requests.map(async (request, index) => {
      const made = prepared[index];
      if (made?.status !== "fulfilled") {
        if (request.idempotencyKey === null) throw made?.reason;
        return create(principal, request);
      }
      const joined = await join(principal, request, made.value, deps.deduplication.submit(made.value.task));
      return joined ?? (await replay(principal, request)) ?? create(principal, request);
    });
    return toResults(await Promise.allSettled(created));
  }

  /**
   * Nearly every key is new, and the insert detects a taken one: the key is looked up only if it is taken, or the
   * request would be refused for a reason other than an unreachable database. The key may be taken or freed between two
   * lookups; the request that loses a round finds the winner in the next.
   */
  async function createOnce(principal: Principal, request: TaskRequest): Promise<Created | null> {
    // Refused regardless of the key, like every other mistake in the request.
    followUpOf(request, deps.findProvider);
    for (let round = 0; round < 3; round += 1) {
      let found: Created | null;
      try {
        found = (await submitNew(principal, request, () => null)) ?? (await replay(principal, request));
      } catch (refusal) {
        const isLooked = refusal instanceof Problem && refusal.code !== "database_away";
        found = isLooked ? await replay(principal, request) : null;
        if (found === null) throw refusal;
      }
      if (found !== null) return found;
    }
    return null;
  }

  function create(principal: Principal, request: TaskRequest): Promise<Created> {
    const refused = () => refuse(principal, request);
    if (request.idempotencyKey === null) return submitNew(principal, request, refused);
    return createOnce(principal, request).then((created) => created ?? refused());
  }

  async function refuse(principal: Principal, request: TaskRequest): Promise<never> {
    throw await whyRefused(database, principal, request);
  }

  return { create, joinEach, replay, showJoined };
}
