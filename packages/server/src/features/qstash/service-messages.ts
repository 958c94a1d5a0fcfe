import type { Principal, Requester } from "../../domain/identity/principal.ts";
import type { Message } from "../../domain/message.ts";
import { Problem } from "../../domain/problem.ts";
import { isEnded, type Task } from "../../domain/task.ts";
import { parseTaskId } from "../../domain/task-id.ts";
import type { ScanLine } from "../../service/tasks/scan-line.ts";
import type { TaskService } from "../../service/tasks/task-service.ts";
import type { Database } from "../../store/sql.ts";
import { type MessageFilter, wantedIds } from "./domain-filter.ts";
import { formatDlqId, parseDlqId } from "./domain-message-id.ts";
import { searchMessages } from "./store-messages.ts";

export type MessageTask = Task & { readonly message: Message };

export interface MessagePage {
  readonly messages: readonly MessageTask[];
  readonly cursor: string | null;
}

export interface MessageService {
  get(principal: Principal, id: string): Promise<MessageTask>;
  cancel(requester: Requester, id: string): Promise<void>;
  /** Resolves with the number of cancelled messages. */
  cancelAll(requester: Requester, filter: MessageFilter): Promise<number>;
  listFailed(principal: Principal, filter: MessageFilter): Promise<MessagePage>;
  getFailed(principal: Principal, dlqId: string): Promise<MessageTask>;
  /** Failed messages of the filter, at most a page, each given to `work`; those that are gone meanwhile do not count. */
  eachFailed(
    principal: Principal,
    filter: MessageFilter,
    work: (message: MessageTask) => Promise<unknown>,
  ): Promise<{ readonly done: readonly MessageTask[]; readonly cursor: string | null }>;
  /** Takes a failed message off the list of failed ones. */
  dismiss(requester: Requester, message: MessageTask): Promise<void>;
  /** Any, newest first. */
  list(principal: Principal, filter: MessageFilter, limit: number): Promise<MessagePage>;
}

const OPEN = ["pending", "active", "waiting", "polling"];
const PAGE = 100;
/** Searches that a page makes until one finds a message: each scans at most 10,000 tasks. */
const MOST_SEARCHES = 5;
/** Changes made at once for one request: each needs a connection. */
const AT_ONCE = 4;

export function createMessageService(deps: {
  readonly database: Database;
  readonly tasks: Pick<TaskService, "get" | "cancel" | "dismiss">;
  readonly scans: ScanLine;
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

  async function read(principal: Principal, ids: readonly string[]): Promise<MessageTask[]> {
    const found = await inTurn(ids, async (id) => get(principal, id).catch(nullIfUnknown));
    return found.filter((message) => message !== null);
  }

  /** The first page that is not empty. After some empty ones the caller goes on from `next`. */
  async function page(
    principal: Principal,
    filter: MessageFilter,
    statuses: readonly string[] | null,
    limit: number,
  ): Promise<{ readonly ids: readonly string[]; readonly next: string | null }> {
    const search = async () => {
      let after = filter.cursor;
      for (let searches = 1; ; searches += 1) {
        const found = await searchMessages(sql, principal, { filter, statuses, after, limit });
        if (found.ids.length > 0 || found.next === null || searches === MOST_SEARCHES) return found;
        after = found.next;
      }
    };
    // Messages by their ids are found by an index. Others are scanned for: one search of a team at a time.
    return wantedIds(filter) === null ? deps.scans.run(principal.teamId, search) : search();
  }

  async function listFailed(principal: Principal, filter: MessageFilter): Promise<MessagePage> {
    const limit = Math.min(filter.count ?? PAGE, PAGE);
    const { ids, next } = await page(principal, filter, ["failed"], limit);
    const wanted = filter.dlqIds === null ? null : new Set(filter.dlqIds);
    const messages = (await read(principal, ids)).filter(
      (message) => isInDlq(message) && (wanted === null || wanted.has(dlqIdOf(message))),
    );
    return { messages, cursor: next };
  }

  return {
    get,
    cancel,
    cancelAll(requester, filter) {
      return deps.scans.run(requester.teamId, async () => {
        let cancelled = 0;
        for (let after: string | null = null; ; ) {
          const found = await searchMessages(sql, requester, { filter, statuses: OPEN, after, limit: PAGE });
          const done = await inTurn(found.ids, (id) => cancel(requester, id).then(() => 1, zeroIfUnknown));
          cancelled += done.reduce((sum, one) => sum + one, 0);
          if (found.next === null) return cancelled;
          after = found.next;
        }
      });
    },
    listFailed,
    async getFailed(principal, dlqId) {
      const parsed = parseDlqId(dlqId);
      const message = parsed === null ? null : await get(principal, parsed.id).catch(nullIfUnknown);
      if (message === null || !isInDlq(message) || dlqIdOf(message) !== dlqId)
        throw new Problem("message_not_found");
      return message;
    },
    async eachFailed(principal, filter, work) {
      const { messages, cursor } = await listFailed(principal, filter);
      const done = await inTurn(messages, async (message) =>
        work(message).then(
          () => message,
          (error) => (isLost(error) ? null : Promise.reject(error)),
        ),
      );
      return { done: done.filter((message) => message !== null), cursor };
    },
    async dismiss(requester, { id }) {
      await tasks.dismiss(requester, id);
    },
    async list(principal, filter, limit) {
      const { ids, next } = await page(principal, filter, null, limit);
      return { messages: await read(principal, ids), cursor: next };
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
