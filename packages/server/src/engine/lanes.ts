import type { SlotGrant } from "../store/tasks/queue-slots.ts";

/** What this worker knows of one queue: how many calls it may make there, and whether there is work. */
export interface Lane {
  readonly teamId: number;
  readonly queue: string;
  /** Null until slots were asked for the first time. */
  grant: SlotGrant | null;
  /** The grant is out of date: ask again before the next claim. */
  stale: boolean;
  /** Calls under way, and slots set aside for a claim or an insert under way. */
  inFlight: number;
  /** Due tasks that wait here, as far as is known; Infinity when there may be any number. */
  waiting: number;
  /** Being claimed from, or asked slots for, right now. */
  busy: boolean;
  /** The claim under way takes all that is known to wait: who comes now finds nobody before it. */
  covering: boolean;
  /** Out of the books: calls may still end here, none may start. The queue is gone, or has a lane of its own anew. */
  retired: boolean;
  usedAtMs: number;
}

export interface Lanes {
  readonly all: Iterable<Lane>;
  find(teamId: number, queue: string): Lane | undefined;
  open(teamId: number, queue: string): Lane;
  drop(lane: Lane): void;
  /** How many more calls may start here now. */
  free(lane: Lane): number;
  take(lane: Lane, count: number): void;
  giveBack(lane: Lane, count: number): void;
  readonly inFlight: number;
}

/**
 * The books of one worker. Besides a queue's slots two limits hold: the node's own capacity, and a team's share of
 * it. A team may hold half of what the others leave, so that teams whose targets hang cannot keep the next one waiting.
 */
export function createLanes(capacity: number): Lanes {
  const lanes = new Map<string, Lane>();
  const byTeam = new Map<number, number>();
  let total = 0;

  function teamShare(teamId: number): number {
    const others = total - (byTeam.get(teamId) ?? 0);
    return Math.max(1, Math.floor((capacity - others) / 2));
  }

  function add(lane: Lane, count: number): void {
    lane.inFlight += count;
    total += count;
    const team = (byTeam.get(lane.teamId) ?? 0) + count;
    if (team > 0) byTeam.set(lane.teamId, team);
    else byTeam.delete(lane.teamId);
  }

  return {
    get all() {
      return lanes.values();
    },
    get inFlight() {
      return total;
    },
    find: (teamId, queue) => lanes.get(`${teamId}/${queue}`),
    open(teamId, queue) {
      const key = `${teamId}/${queue}`;
      const known = lanes.get(key);
      if (known !== undefined) return known;
      const lane: Lane = {
        teamId,
        queue,
        grant: null,
        stale: true,
        inFlight: 0,
        waiting: 0,
        busy: false,
        covering: false,
        retired: false,
        usedAtMs: 0,
      };
      lanes.set(key, lane);
      return lane;
    },
    drop(lane) {
      if (!lane.retired) lanes.delete(`${lane.teamId}/${lane.queue}`);
      lane.retired = true;
    },
    free(lane) {
      if (lane.retired || lane.grant === null || lane.grant.paused) return 0;
      // What is held beyond the limit is for calls under way, and goes back as they end.
      if (lane.grant.overdrawn) return 0;
      const ofTeam = teamShare(lane.teamId) - (byTeam.get(lane.teamId) ?? 0);
      return Math.min(lane.grant.slots - lane.inFlight, ofTeam, capacity - total);
    },
    take: (lane, count) => add(lane, count),
    giveBack: (lane, count) => add(lane, -count),
  };
}
