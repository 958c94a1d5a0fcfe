import { createLocalQueues, type LocalQueue } from "../../src/engine/local-queues.ts";
import { createQueueClaims } from "../../src/engine/queue-claims.ts";
import type { Database } from "../../src/store/sql.ts";
import { createSubscriberMemory } from "../../src/store/tasks/event-writes.ts";
import { openFlowLines } from "../../src/store/tasks/flow-lines.ts";
import { holdFlowTasks, holdTasks } from "../../src/store/tasks/held-hosts.ts";
import { acquireSlots, type SlotGrant } from "../../src/store/tasks/queue-slots.ts";
import type { ClaimKind } from "./random-team.ts";
import type { TeamState } from "./read-gates.ts";

/*
 * The claims of one worker for one team, by the engine's own code (engine/queue-claims.ts) and with what the engine does before: it asks for
 * slots, offers none of a paused queue, and takes the tasks aside that a circuit breaker holds back.
 */

export interface TeamClaims {
  /** The slots that the worker has not used yet, by queue. */
  free(): ReadonlyMap<number, number>;
  /** One claim. Resolves with the tasks that it took, in order. */
  claim(kind: ClaimKind, queueId: number, state: TeamState): Promise<readonly string[]>;
}

export interface AskedTeam {
  readonly teamId: number;
  readonly queues: readonly string[];
}

/** Slots for all queues of these teams, in one request. */
export async function openClaims(
  database: Database,
  workerId: number,
  teams: readonly AskedTeam[],
): Promise<Map<number, TeamClaims>> {
  const asked = teams.flatMap(({ teamId, queues }) =>
    queues.map((queue) => ({ teamId, queue, using: null })),
  );
  const grants = await acquireSlots(database, workerId, asked);
  const claims = new Map<number, TeamClaims>();
  for (const { teamId } of teams) {
    const own = asked.flatMap(({ queue, ...each }, index) => {
      const grant = grants[index];
      return each.teamId === teamId && grant != null ? [{ queue, grant }] : [];
    });
    claims.set(teamId, createTeamClaims(database, workerId, teamId, own));
  }
  return claims;
}

const ENDLESS = { total: 0, room: () => Number.POSITIVE_INFINITY, take: () => {}, giveBack: () => {} };
const LIMIT = 200;
const memory = createSubscriberMemory();

function createTeamClaims(
  database: Database,
  workerId: number,
  teamId: number,
  grants: readonly { readonly queue: string; readonly grant: SlotGrant }[],
): TeamClaims {
  const localQueues = createLocalQueues({ ...ENDLESS });
  const locals = grants.map(({ queue, grant }) => {
    const local = localQueues.open(teamId, queue);
    local.grant = grant;
    local.stale = false;
    return { local, grant };
  });
  const time = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    setTimer: () => ({ cancel: () => {} }),
    soon: () => {},
    shortly: () => {},
  };
  const { claim, claimFlows } = createQueueClaims({ database, localQueues, time, lineUp: () => {} });

  /** With free slots and of this order; the rate of a queue closes it only for the next round. */
  const offered = (ordered: boolean) =>
    locals.filter(({ local, grant }) => {
      local.closed = null;
      return grant.ordered === ordered && localQueues.free(local) > 0;
    });

  function take(local: LocalQueue, count: number): void {
    localQueues.take(local, count);
  }

  async function claimPlain(asked: readonly { readonly local: LocalQueue; readonly grant: SlotGrant }[]) {
    for (const { grant } of asked)
      if (grant.holdsHosts && !grant.ordered) await holdTasks(database, teamId, grant.queueId);
    if (asked.length === 0) return [];
    const requests = asked.map(({ local, grant }) => ({
      local,
      request: {
        teamId,
        queue: local.queue,
        queueId: grant.queueId,
        epoch: grant.epoch,
        workerId,
        limit: localQueues.free(local),
        holdsHosts: grant.holdsHosts,
      },
    }));
    const claimed = await claim(requests, memory);
    for (const [index, { local }] of requests.entries()) take(local, claimed[index]?.claims.length ?? 0);
    return claimed.flatMap(({ claims }) => claims.map(({ id }) => id));
  }

  async function claimOfFlows(
    { isOrdered = false, plain = 0 }: { readonly isOrdered?: boolean; readonly plain?: number },
    state: TeamState,
  ): Promise<string[]> {
    const asked = offered(false);
    const flows = [...new Set(state.waiting.flatMap(({ flow }) => flow ?? []))].filter(
      (key) => state.isOrderedFlow(key) === isOrdered,
    );
    if (asked.length === 0 || (flows.length === 0 && plain === 0)) return [];
    for (const { grant } of asked) {
      if (!grant.holdsHosts) continue;
      if (plain > 0) await holdTasks(database, teamId, grant.queueId);
      await holdFlowTasks(database, teamId, grant.queueId, flows);
    }
    const request = {
      teamId,
      workerId,
      queues: asked.map(({ local, grant }) => ({
        ...grant,
        queue: local.queue,
        free: localQueues.free(local),
        plain,
      })),
      lanes: flows.flatMap((flow) => asked.map(({ grant }) => ({ flow, queueId: grant.queueId }))),
      limit: LIMIT,
      isOrdered,
    };
    // A line that has not begun competes for slots only from the next claim on: here it begins first.
    if (isOrdered) await openFlowLines(database, teamId, flows);
    const of = asked.map(({ local }) => local);
    const claimed = await claimFlows(of, request, memory);
    for (const { local, grant } of asked)
      take(local, claimed.claims.filter(({ queueId }) => queueId === grant.queueId).length);
    return claimed.claims.map(({ id }) => id);
  }

  return {
    free: () => new Map(locals.map(({ local, grant }) => [grant.queueId, localQueues.free(local)])),
    async claim(kind, queueId, state) {
      switch (kind) {
        case "plain":
          return claimPlain(offered(false).filter(({ grant }) => grant.queueId === queueId));
        case "line":
          return claimPlain(offered(true).filter(({ grant }) => grant.queueId === queueId));
        case "shared":
          return claimPlain(offered(false).filter(({ grant }) => grant.rate === null && !grant.holdsHosts));
        case "flows":
          return claimOfFlows({}, state);
        case "both":
          return claimOfFlows({ plain: LIMIT }, state);
        case "flow lines":
          return claimOfFlows({ isOrdered: true }, state);
      }
    },
  };
}
