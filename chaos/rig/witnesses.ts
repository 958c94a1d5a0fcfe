import { setTimeout as sleep } from "node:timers/promises";
import type { Reader, Receiver } from "../checker/history.ts";
import type { Api } from "./api.ts";
import { createAsking, RETRY_MS } from "./asking.ts";
import type { Clients } from "./clients.ts";
import { now } from "./clock.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";
import { type EventReader, startReader } from "./reader.ts";
import { startReceiver, type WebhookReceiver } from "./receiver.ts";
import { isRecord } from "./task-requests.ts";
import type { Team } from "./teams.ts";

const TASK_EVENTS = [
  "created",
  "started",
  "attempt_failed",
  "waiting",
  "polling",
  "completed",
  "failed",
  "cancelled",
].map((name) => `task.${name}`);

/** How long after everything has ended the last event may take to be told. */
const LAST_MS = 30_000;

/** Those who are told what happens: readers of streams and receivers of webhooks, of two teams. */
export interface Witnesses {
  /** Until then nobody listens, and Bellhop writes no events down. */
  start(): Promise<void>;
  /** Waits until each was told of a last task. A reader that was not is behind. */
  finish(clients: Clients): Promise<void>;
  readonly readers: readonly Reader[];
  readonly receivers: readonly Receiver[];
  stop(): Promise<void>;
}

interface Told {
  readonly type: string;
  readonly taskId: string | null;
}

/** A webhook of one team, for one queue or for all. */
interface Subscription {
  readonly team: Team;
  readonly queue: string | null;
  readonly receiver: WebhookReceiver;
  /** Of the webhook that was answered 201: the path that it sends to. */
  accepted: { readonly path: string; readonly since: number } | null;
}

export async function createWitnesses(deps: {
  readonly api: Api;
  readonly nodes: readonly Node[];
  readonly random: Random;
  readonly teams: { readonly main: Team; readonly neighbour: Team };
}): Promise<Witnesses> {
  const { api, nodes, random } = deps;
  const { main, neighbour } = deps.teams;
  const { retryRequest, anyNode } = createAsking(nodes, random);
  const readers: EventReader[] = [];
  /** The last task of each team; null if none was accepted. */
  const last = new Map<number, string | null>();
  const subscriptions: Subscription[] = [
    { team: main, queue: "moody", receiver: await receiverOf(main), accepted: null },
    { team: neighbour, queue: null, receiver: await receiverOf(neighbour), accepted: null },
  ];

  async function receiverOf({ key }: Team): Promise<WebhookReceiver> {
    const path = "/v1/signing-secret";
    const { body } = await retryRequest(
      (node) => api.ask({ action: "read", node, method: "GET", path, key }),
      RETRY_MS.calm,
    );
    const { secret } = isRecord(body) && isRecord(body.signingSecret) ? body.signingSecret : {};
    if (typeof secret !== "string") throw new Error("There is no signing secret");
    return startReceiver(secret);
  }

  /** Each try has a path of its own: one that got no answer may have been carried out, and sends there. */
  async function subscribe(subscription: Subscription): Promise<void> {
    const { team, queue, receiver } = subscription;
    for (let tries = 1; subscription.accepted === null && tries < 100; tries += 1) {
      const path = `/${tries}`;
      const body = { url: `${receiver.url}${path}`, events: TASK_EVENTS, ...(queue !== null && { queue }) };
      const asked = { action: "webhook", method: "POST", path: "/v1/webhooks", body, key: team.key } as const;
      const { status } = await api.ask({ ...asked, node: anyNode() });
      if (status === 201) subscription.accepted = { path, since: now() };
      else await sleep(random.between(200, 900));
    }
  }

  /** Told of the end of the team's last task, and so of all before it. */
  function isCurrent(teamId: number, told: readonly Told[]): boolean {
    const taskId = last.get(teamId) ?? null;
    return told.some((each) => each.type === "task.completed" && each.taskId === taskId);
  }

  function areCurrent(teamId: number): boolean {
    if (last.get(teamId) === null) return true;
    return (
      readers.every((reader) => reader.teamId !== teamId || isCurrent(teamId, reader.told)) &&
      subscriptions.every(
        ({ team, accepted, receiver }) =>
          team.id !== teamId || accepted === null || isCurrent(teamId, receiver.received),
      )
    );
  }

  return {
    async start() {
      for (const [team, restless] of [
        [main, false],
        [main, true],
        [neighbour, true],
      ] as const)
        readers.push(startReader({ teamId: team.id, key: team.key, nodes, random: random.fork(), restless }));
      await Promise.all(subscriptions.map(subscribe));
    },
    async finish(clients) {
      last.set(main.id, await clients.last("moody"));
      last.set(neighbour.id, await clients.last("neighbour"));
      const untilMs = now() + LAST_MS;
      while (now() < untilMs && ![...last.keys()].every(areCurrent)) await sleep(100);
      const deaf = readers.some(({ readyAt }) => readyAt === null);
      if (deaf || subscriptions.some(({ accepted }) => accepted === null))
        throw new Error(
          "A reader or a webhook of this run never came to be: nothing can be said about events",
        );
    },
    get readers() {
      return readers.map(({ teamId, readyAt, told }) => {
        return { teamId, readyAt, told, isBehind: !isCurrent(teamId, told) };
      });
    },
    get receivers() {
      return subscriptions.flatMap(({ team, queue, receiver, accepted }): Receiver[] => {
        if (accepted === null) return [];
        const { path, since } = accepted;
        const received = receiver.received.filter((delivery) => delivery.path === path);
        return [{ teamId: team.id, queue, since, received }];
      });
    },
    async stop() {
      await Promise.all(readers.map((reader) => reader.stop()));
      await Promise.all(subscriptions.map(({ receiver }) => receiver.stop()));
    },
  };
}
