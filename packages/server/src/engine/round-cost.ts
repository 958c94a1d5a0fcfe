const KIB = 1024;
export const MIB = 1024 * KIB;
/** Of a row without texts: ids, times and states. */
export const LEAN = KIB;
/** Of a task as events and lists show it: its call and the answer to it, without their bodies. */
export const TOLD = 64 * KIB;
/** Of a task with the body of its call and the answer to it, both of the default limits. */
export const WHOLE = 4 * MIB;

const TURNS = ["in turn", "each", "oldest first", "none"] as const;

/**
 * What an actor costs: each declares it, and the server does not start without it. A round works in portions, between
 * which the event loop and other transactions go on.
 */
export interface RoundCost {
  /** Rows that one portion reads or changes at most. */
  readonly rows: number;
  /** Bytes of their values that are in memory at once, at most. */
  readonly bytes: number;
  /** What a portion is of, where each has one: then their number decides about the length of a round. */
  readonly per?: "team" | "queue" | "host" | "flow" | "call" | "token";
  /**
   * How teams share a round:
   * - `in turn`: the least recently served first, each with an equal share of a portion and within its budget;
   * - `each`: every one with work gets a portion;
   * - `oldest first`: rows of all teams by their time; only where a row costs the same for every team, and cannot wait
   *   for anything outside;
   * - `none`: rows of no team.
   */
  readonly turns: (typeof TURNS)[number];
}

/** Deny by default: an actor without a cost prevents the start. */
export function requireRoundCost(name: string, cost: RoundCost | undefined): asserts cost is RoundCost {
  if (cost === undefined) throw new Error(`The actor ${name} does not declare its cost`);
  for (const unit of ["rows", "bytes"] as const)
    if (!(Number.isSafeInteger(cost[unit]) && cost[unit] >= 0))
      throw new Error(`The actor ${name} costs ${cost[unit]} ${unit}: that is no bound`);
  if (!TURNS.includes(cost.turns)) throw new Error(`The actor ${name} does not say how teams take turns`);
}
