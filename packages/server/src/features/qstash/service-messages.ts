import type { Principal, Requester } from "../../domain/identity/principal.ts";
import type { Message } from "../../domain/message.ts";
import { Problem } from "../../domain/problem.ts";
import { isEnded, type Task } from "../../domain/task.ts";
import { parseTaskId } from "../../domain/task-id.ts";
import type { Scan } from "../../service/scan-line.ts";
import type { TaskService } from "../../service/tasks/task-service.ts";
import type { Database } from "../../store/sql.ts";
import type { MessageFilter } from "./domain-filter.ts";
import { formatDlqId, parseDlqId } from "./domain-message-id.ts";
import { searchMessages } from "./store-messages.ts";

export type MessageTask = Task & { readonly message: Message };

/** Takes the next message into the answer; false: it has no room, and the page ends before it. The first is always taken. */
export type TakeMessage = (message: MessageTask) => boolean;

export interface MessageService {
  get(principal: Principal, id: string): Promise<MessageTask>;
  cancel(requester: Requester, id: string): Promise<void>;
  /** Resolves with the number of cancelled messages. It has a place in the line only while it searches. */
  cancelAll(requester: Requester, filter: MessageFilter, scan: Scan): Promise<number>;
  /** Resolves with the cursor of the next page; null if there is none. */
  listFailed(
    principal: Principal,
    filter: MessageFilter,
    scan: Scan,
    take: TakeMessage,
  ): Promise<string | null>;
  getFailed(principal: Principal, dlqId: string): Promise<MessageTask>;
  /** Failed messages of the filter, at most a page, each given to `work`; resolves with their ids, without those that are gone meanwhile. */
  eachFailed(
    principal: Principal,
    filter: MessageFilter,
    scan: Scan,
    work: (message: MessageTask) => Promise<unknown>,
  ): Promise<{ readonly done: readonly string[]; readonly cursor: string | null }>;
  /** Takes a failed message off the list of failed ones. */
  dismiss(requester: Requester, message: MessageTask): Promise<void>;
  /** Any, newest first; `first` before all others. Resolves with the cursor of the next page; null if there is none. */
  list(
    principal: Principal,
    filter: MessageFilter,
    page: { readonly first: string | null; readonly limit: number },
    scan: Scan,
    take: TakeMessage,
  ): Promise<string | null>;
}

const OPEN = ["pending", "active", "waiting", "polling"];
const PAGE = 100;
/** Searches that a page makes until one finds a message: each scans at most 10,000 tasks. */
const MOST_SEARCHES = 5;
/** Messages read or changed at once for one request: each needs a connection, and may be as large as its body and its answer. */
const AT_ONCE = 4;

export function createMessageService(deps: {
  readonly database: Database;
  readonly tasks: Pick<TaskService, "get" | "cancel" | "dismiss">;
}): MessageService {
  const { database: sql, tasks } = deps;

  async function get(principal: Principal, id: string): Promise<MessageTask> {
    const taskId = parseTaskId(id);
    if (taskId === null) throw new Problem("message_not_found");
    const task = await tasks.get(principal, taskId).catch(asUnknown);
    const { message, sandbox } = task;
    const isOther = sandbox !== (principal.environment === "test");
    if (message === null || isOther) throw new Problem("message_not_found");
    return { ...task, message };
  }

  async function cancel(requester: Requester, id: string): Promise<void> {
    const task = await get(requester, id);
    if (isEnded(task.status)) throw new Problem("message_not_found");
    await tasks.cancel(requester, task.id).catch((error) => {
      throw error instanceof Problem && error.code === "task_ended"
        ? new Problem("message_not_found")
        : error;
    });
  }

  /** A few at a time, and only as far as the reader goes: a page of large ones would not fit into the memory of a node. */
  async function* read(principal: Principal, ids: readonly string[]) {
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const portion = ids.slice(at, at + AT_ONCE).map(async (id) => {
        const message = await get(principal, id).catch(nullIfUnknown);
        return { id, message };
      });
      yield await Promise.all(portion);
    }
  }

  async function readPage(
    principal: Principal,
    { ids, next }: { readonly ids: readonly string[]; readonly next: string | null },
    take: TakeMessage,
  ): Promise<string | null> {
    let last: string | null = null;
    for await (const portion of read(principal, ids))
      for (const { id, message } of portion) {
        if (message !== null && !take(message)) return last;
        last = id;
      }
    return next;
  }

  /** The first page that is not empty. After some empty ones the caller goes on from `next`. */
  async function page(
    principal: Principal,
    filter: MessageFilter,
    statuses: readonly string[] | null,
    limit: number,
    scan: Scan,
  ): Promise<{ readonly ids: readonly string[]; readonly next: string | null }> {
    let after = filter.cursor;
    for (let searches = 1; ; searches += 1) {
      const found = await searchMessages(sql, principal, { filter, statuses, after, limit });
      if (found.ids.length > 0 || found.next === null || searches === MOST_SEARCHES) return found;
      after = found.next;
      scan.give();
      await scan.take();
    }
  }

  function pageOfFailed(principal: Principal, filter: MessageFilter, scan: Scan) {
    return page(principal, filter, ["failed"], Math.min(filter.count ?? PAGE, PAGE), scan);
  }

  /** Whether a failed message that was found is still on the list, by the id that was asked for. */
  function isAsked(filter: MessageFilter): (message: MessageTask) => boolean {
    const wanted = filter.dlqIds === null ? null : new Set(filter.dlqIds);
    return (message) => isInDlq(message) && (wanted === null || wanted.has(dlqIdOf(message)));
  }

  return {
    get,
    cancel,
    async cancelAll(requester, filter, scan) {
      let cancelled = 0;
      for (let after: string | null = null; ; ) {
        await scan.take();
        const found = await searchMessages(sql, requester, { filter, statuses: OPEN, after, limit: PAGE });
        scan.give();
        const done = await inTurn(found.ids, (id) => cancel(requester, id).then(() => 1, zeroIfUnknown));
        cancelled += done.reduce((sum, one) => sum + one, 0);
        if (found.next === null) return cancelled;
        after = found.next;
      }
    },
    async listFailed(principal, filter, scan, take) {
      const asked = isAsked(filter);
      const found = await pageOfFailed(principal, filter, scan);
      return readPage(principal, found, (message) => !asked(message) || take(message));
    },
    async getFailed(principal, dlqId) {
      const parsed = parseDlqId(dlqId);
      const message = parsed === null ? null : await get(principal, parsed.id).catch(nullIfUnknown);
      if (message === null || !isInDlq(message) || dlqIdOf(message) !== dlqId)
        throw new Problem("message_not_found");
      return message;
    },
    async eachFailed(principal, filter, scan, work) {
      const asked = isAsked(filter);
      const { ids, next } = await pageOfFailed(principal, filter, scan);
      scan.give();
      const done: string[] = [];
      for await (const portion of read(principal, ids)) {
        const messages = portion.flatMap(({ message }) => message ?? []).filter(asked);
        const worked = messages.map((message) =>
          work(message).then(
            () => message.id,
            (error) => (isLost(error) ? null : Promise.reject(error)),
          ),
        );
        done.push(...(await Promise.all(worked)).filter((id) => id !== null));
      }
      return { done, cursor: next };
    },
    async dismiss(requester, { id }) {
      await tasks.dismiss(requester, id);
    },
    async list(principal, filter, { first, limit }, scan, take) {
      const { ids, next } = await page(principal, filter, null, limit, scan);
      return readPage(principal, { ids: first === null ? ids : [first, ...ids], next }, take);
    },
  };
}

export function dlqIdOf({ id, attempts }: Pick<Task, "id" | "attempts">): string {
  return formatDlqId(id, attempts.at(-1)?.number ?? 0);
}

function isInDlq({ status, dismissedAt }: MessageTask): boolean {
  return status === "failed" && dismissedAt === null;
}

function asUnknown(error: unknown): never {
  throw error instanceof Problem && error.code === "task_not_found"
    ? new Problem("message_not_found")
    : error;
}

function nullIfUnknown(error: unknown): null {
  if (error instanceof Problem && error.code === "message_not_found") return null;
  throw error;
}

function zeroIfUnknown(error: unknown): number {
  nullIfUnknown(error);
  return 0;
}

/** Another request was faster. */
function isLost(error: unknown): boolean {
  return error instanceof Problem && (error.status === 404 || error.status === 409);
}

async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  return results;
}
