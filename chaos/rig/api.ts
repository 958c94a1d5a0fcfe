import { request } from "node:http";
import type { Action, Answer } from "../checker/history.ts";
import type { Limits, Wish } from "../checker/outside/wishes.ts";
import type { Leak } from "../checker/vault-record.ts";
import { hasCredential } from "./canaries.ts";
import { now } from "./clock.ts";
import type { Node } from "./node.ts";
import { isRecord } from "./task-requests.ts";

export const API_KEY = "bh_live_chaosChaosChaosChaosChaosChaos0123456789";

/** Far beyond what is allowed: a request that takes as long hangs. */
const PATIENCE_MS = 12_000;

export interface Asked {
  readonly action: Action;
  readonly node: Node;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly queue?: string;
  readonly taskId?: string;
  /** The nonce of a creation, the value of a callback. */
  readonly carried?: string;
  readonly wish?: Wish;
  readonly limits?: Limits;
  /** The API key; left out: that of the team with most of the work. */
  readonly key?: string;
  /** Where the request comes from: callbacks are limited by address, and loopback has many. */
  readonly localAddress?: string;
}

export interface Told {
  readonly status: number | null;
  readonly body: unknown;
}

export interface Api {
  readonly answers: readonly Answer[];
  /** `readTaskId` finds the task in a good answer. */
  ask(asked: Asked, readTaskId?: (body: unknown) => string | null): Promise<Told>;
}

/** Asks nodes for things and writes down what it was told, whatever that is; in `leaks` answers that have a credential. */
export function createApi(leaks: Leak[] = []): Api {
  const answers: Answer[] = [];
  return {
    answers,
    async ask(asked, readTaskId) {
      const at = now();
      const { status, text, failure } = await send(asked);
      if (hasCredential(text)) leaks.push({ where: `the answer to ${asked.method} ${asked.path}`, at });
      const body = parse(text);
      const found = status !== null && status < 300 ? readTaskId?.(body) : null;
      answers.push({
        action: asked.action,
        node: asked.node.index,
        at,
        endedAt: now(),
        status,
        failure,
        taskId: asked.taskId ?? found ?? null,
        queue: asked.queue ?? null,
        // A request that was joined to an earlier one made no task.
        carried: isJoined(body) ? null : (asked.carried ?? null),
        ...(asked.wish !== undefined && { wish: asked.wish }),
        ...(asked.limits !== undefined && { limits: asked.limits }),
        ...createdAt(asked.action, body),
      });
      return { status, body };
    },
  };
}

function send(asked: Asked): Promise<{ status: number | null; text: string; failure: Answer["failure"] }> {
  const { method, path, node, localAddress } = asked;
  const body = asked.body === undefined ? undefined : JSON.stringify(asked.body);
  return new Promise((resolve) => {
    const fail = (failure: Answer["failure"]) => resolve({ status: null, text: "", failure });
    const outgoing = request(`${node.url}${path}`, {
      method,
      agent: false,
      headers: {
        authorization: `Bearer ${asked.key ?? API_KEY}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...asked.headers,
      },
      ...(localAddress !== undefined && { localAddress }),
    });
    const timer = setTimeout(() => {
      fail("timeout");
      outgoing.destroy();
    }, PATIENCE_MS);
    outgoing.on("error", (error) => {
      clearTimeout(timer);
      fail("code" in error && error.code === "ECONNREFUSED" ? "refused" : "reset");
    });
    outgoing.on("response", (response) => {
      let text = "";
      response.on("error", () => fail("reset"));
      response.on("data", (chunk) => {
        text += String(chunk);
      });
      response.on("end", () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? null, text, failure: null });
      });
    });
    outgoing.end(body);
  });
}

function isJoined(body: unknown): boolean {
  return isRecord(body) && body.deduplicated === true;
}

function createdAt(action: Action, body: unknown): { createdAt?: number } {
  const task = isRecord(body) && isRecord(body.task) ? body.task : body;
  if (action !== "create" || !isRecord(task)) return {};
  const at = Date.parse(String(task.created_at ?? task.createdAt));
  return Number.isNaN(at) ? {} : { createdAt: at };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
