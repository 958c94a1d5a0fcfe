import type { Action, Answer, Joins } from "../../chaos/checker/history.ts";
import type { Random } from "../../chaos/rig/random.ts";
import type { Requester } from "../../packages/server/src/domain/identity/principal.ts";
import { UNBOUNDED } from "../../packages/server/src/domain/limits.ts";
import type { Server } from "../server.ts";
import { TEAM } from "./new-tasks.ts";
import type { SimulatedNode } from "./node.ts";
import type { Scheduler } from "./scheduler.ts";

export const REQUESTER: Requester = {
  teamId: TEAM,
  team: "team",
  environment: "live",
  kind: "api_key",
  id: "key",
  name: "Client",
  userId: null,
  role: "admin",
  scopes: null,
  plan: "enterprise",
  requestsPerMinute: null,
  limits: UNBOUNDED,
  tokenHash: null,
  address: "127.0.0.1",
  requestId: "simulated",
};

/** What a request is about, for the checker. */
export interface About {
  /** Of a request with a deduplication key, the work says in the end which task it was. */
  taskId?: string;
  readonly queue?: string;
  joins?: Joins;
  /** The status of one of several tasks that were asked for together. */
  status?: number;
}

export type Work = (node: SimulatedNode) => Promise<number>;
export type OnAnswer = (status: number | null) => void;

/** Requests to nodes, and their answers: each goes to one node, and ends with its answer or with its process. */
export interface Requests {
  readonly answers: readonly Answer[];
  /** Status as the API would give it; the work resolves with it. */
  /** `about`: one of each task that is asked for. */
  send(
    random: Random,
    action: Action,
    about: About | readonly About[],
    work: Work,
    onAnswer?: OnAnswer,
  ): void;
  /** Asks until it is done. */
  insist(random: Random, action: Action, about: About, work: Work): void;
  note(answer: Answer): void;
  /** The run is over: what was not answered by now was not answered. */
  hangUp(): void;
}

export function createRequests(options: {
  readonly server: Server;
  readonly scheduler: Scheduler;
  /** The process that serves at this node now; null: none does. */
  readonly nodeAt: (index: number) => SimulatedNode | null;
  readonly nodes: number;
}): Requests {
  const { server, scheduler } = options;
  const answers: Answer[] = [];
  /** The requests without an answer, each as it would end without one. */
  const open = new Set<() => void>();

  function send(
    random: Random,
    action: Action,
    about: About | readonly About[],
    work: Work,
    onAnswer: OnAnswer = () => {},
  ): void {
    const index = random.between(0, options.nodes - 1);
    const node = options.nodeAt(index);
    const at = scheduler.nowMs;
    const told = (status: number | null, failure: Answer["failure"]) => {
      for (const { taskId = null, queue = null, joins, status: own } of [about].flat()) {
        const request = { action, node: index, at, taskId, queue, carried: null };
        const joined = joins === undefined ? {} : { joins };
        const isGood = status !== null && status < 300;
        answers.push({
          ...{ ...request, ...joined, endedAt: scheduler.nowMs, failure },
          status: isGood ? (own ?? status) : status,
        });
      }
      onAnswer(status);
    };
    if (node === null) {
      told(null, "refused");
      return;
    }
    const hangUp = () => told(null, "timeout");
    open.add(hangUp);
    const ending = node.process.onEnd(() => {
      open.delete(hangUp);
      told(null, "reset");
    });
    node.process.after(random.next(), "read", () => {
      work(node)
        .catch(statusOf)
        .then((status) => {
          ending.cancel();
          open.delete(hangUp);
          told(status, null);
        });
    });
  }

  function statusOf(error: unknown): number {
    if (!(error instanceof server.Problem)) {
      scheduler.fail(error);
      return 500;
    }
    if (error.code === "dedupe_conflict") return 409;
    return error.code === "database_away" || error.code === "overloaded" ? 503 : 404;
  }

  function insist(random: Random, action: Action, about: About, work: Work): void {
    send(random, action, about, work, (status) => {
      if (status === null || status >= 500) scheduler.after(100, () => insist(random, action, about, work));
    });
  }

  return {
    answers,
    send,
    insist,
    note: (answer) => answers.push(answer),
    hangUp() {
      for (const end of open) end();
    },
  };
}
