import { Worker } from "node:worker_threads";
import type { ConnectionSettings } from "../postgres/pool.ts";
import type { Answer, EventSerializer, Question } from "../service/tasks/event-serializer.ts";

/*
 * Reading and serializing a task's events costs a quarter of what the task itself costs. It needs only the database, so
 * a separate thread does it. The first stream starts the thread.
 */

/** A request to the thread. */
export interface Asked {
  readonly number: number;
  readonly questions: readonly Question[];
}

/** The thread's answer. */
export type Said =
  | { readonly number: number; readonly answers: readonly Answer[] }
  | { readonly number: number; readonly failed: string };

interface Waiting {
  readonly resolve: (answers: readonly Answer[]) => void;
  readonly reject: (error: Error) => void;
}

export interface EventSerializerThread extends EventSerializer {
  stop(): Promise<void>;
}

const THREAD = new URL("event-serializer-thread.js", import.meta.url);

/** The next read restarts a thread that has exited for any reason, until the serializer is stopped. */
export function createEventSerializerThread(
  connection: ConnectionSettings,
  onFailed: (error: Error) => void,
): EventSerializerThread {
  let thread: Worker | null = null;
  let number = 0;
  let isStopped = false;
  const waiting = new Map<number, Waiting>();

  function begin(): Worker {
    const begun = new Worker(THREAD, { workerData: connection, name: "event-serializer" });
    // The thread must not keep the process alive.
    begun.unref();
    begun.on("message", (said: Said) => {
      const { resolve, reject } = waiting.get(said.number) ?? {};
      waiting.delete(said.number);
      if ("answers" in said) resolve?.(said.answers);
      else reject?.(new Error(said.failed));
    });
    begun.on("error", onFailed);
    begun.on("exit", () => {
      if (thread === begun) thread = null;
      for (const { reject } of waiting.values())
        reject(new Error("The thread that tells of events has ended"));
      waiting.clear();
    });
    return begun;
  }

  return {
    look(questions) {
      if (isStopped) return Promise.reject(new Error("The thread that tells of events has been stopped"));
      thread ??= begin();
      number += 1;
      const asked: Asked = { number, questions };
      return new Promise((resolve, reject) => {
        waiting.set(asked.number, { resolve, reject });
        thread?.postMessage(asked);
      });
    },
    async stop() {
      isStopped = true;
      await thread?.terminate();
    },
  };
}
