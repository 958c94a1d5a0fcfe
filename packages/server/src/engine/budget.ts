import type { Limits } from "../domain/limits.ts";
import { LIMITS, UNBOUNDED } from "../domain/limits.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";

/** The account that a team's calls are counted for, and the team's limits. */
export interface TeamBudget {
  readonly teamId: number;
  /** Teams of one account share one budget: the free teams of one person. */
  readonly account: string;
  readonly limits: Limits;
}

export type FindBudgets = (teamIds: readonly number[]) => Promise<readonly TeamBudget[]>;

/** A pool of concurrent work on a node, shared by all teams: calls, polls or notifications. */
export interface Pool {
  /** The number of further items that a team may start now; never below 0. */
  room(teamId: number): number;
  take(teamId: number, count: number): void;
  giveBack(teamId: number, count: number): void;
  readonly total: number;
}

export interface Budget {
  /** `onRoom` is called when an account with an exhausted budget may start more, in this or another pool. */
  openPool(capacity: number, onRoom: () => void): Pool;
  limitsOf(teamId: number): Limits;
  /** Reads the budgets of unknown teams. Null if all are known, so that most callers need not wait. */
  learn(teamIds: readonly number[]): Promise<void> | null;
  /** The plan of a team changed. If it cannot be read now, the next refresh reads it. */
  relearn(teamId: number): void;
  /** Re-reads the budgets of all known teams: owners and plans change, and a hint may be lost. */
  refreshOnce(): Promise<number>;
}

const REFRESH_MS = 30_000;
export const BUDGET_COST: RoundCost = { rows: 1, bytes: LEAN, per: "team", turns: "each" };
/** Limit of remembered teams, more than one node serves at a time. Beyond it, teams without work in flight are forgotten. */
const MOST_KNOWN = 20_000;
/** The share of a pool that is reserved for accounts without work in flight there: one item each. */
const RESERVE = 1 / 8;

interface Account {
  inFlight: number;
  readonly byPool: number[];
}

interface Entry {
  account: Account;
  key: string;
  limits: Limits;
  /** The team's own items in flight. They move along when the team moves to another account. */
  readonly byPool: number[];
}

/**
 * Prevents one team, or all free teams of one person, from using a whole node. Kept in memory. Four limits apply to
 * each account: the plan's limit over all pools; half of what the other accounts leave free in a pool, so that accounts
 * without a limit leave room; the reserve, which only an account without work in flight may use; and the pool itself.
 * The plan's limit applies to all nodes: each node allows its share.
 */
export function createBudget(deps: {
  readonly find: FindBudgets;
  /** The number of running nodes, including this one. */
  readonly nodes: () => number;
}): Budget {
  const entries = new Map<number, Entry>();
  const accounts = new Map<string, Account>();
  /** Teams whose budget was read. */
  const isKnown = new Set<number>();
  const listeners: (() => void)[] = [];

  function accountOf(key: string): Account {
    const known = accounts.get(key);
    if (known !== undefined) return known;
    const account: Account = { inFlight: 0, byPool: listeners.map(() => 0) };
    accounts.set(key, account);
    return account;
  }

  /** A team whose budget is not known yet has the limits of the smallest plan. */
  function entryOf(teamId: number): Entry {
    const known = entries.get(teamId);
    if (known !== undefined) return known;
    const limits = { ...UNBOUNDED, callsInFlight: LIMITS.callsInFlight.free };
    const key = `team ${teamId}`;
    const entry: Entry = { key, account: accountOf(key), limits, byPool: listeners.map(() => 0) };
    entries.set(teamId, entry);
    return entry;
  }

  function keep({ teamId, account: key, limits }: TeamBudget): void {
    const entry = entryOf(teamId);
    entry.limits = limits;
    if (entry.key === key) return;
    const from = entry.account;
    const to = accountOf(key);
    for (const [pool, count] of entry.byPool.entries()) {
      shift(from, pool, -count);
      shift(to, pool, count);
    }
    forgetAccount(entry.key, from);
    entry.key = key;
    entry.account = to;
  }

  function shift(account: Account, pool: number, count: number): void {
    account.inFlight += count;
    account.byPool[pool] = (account.byPool[pool] ?? 0) + count;
  }

  function forgetAccount(key: string, account: Account): void {
    if (account.inFlight === 0) accounts.delete(key);
  }

  function forgetIdle(): void {
    if (entries.size <= MOST_KNOWN) return;
    for (const [teamId, entry] of entries) {
      if (entry.byPool.some((count) => count > 0)) continue;
      entries.delete(teamId);
      forgetAccount(entry.key, entry.account);
    }
  }

  function capOf({ limits }: Entry): number {
    return limits.callsInFlight === null
      ? Number.POSITIVE_INFINITY
      : Math.ceil(limits.callsInFlight / deps.nodes());
  }

  async function ask(teamIds: readonly number[]): Promise<void> {
    for (const budget of await deps.find(teamIds)) keep(budget);
  }

  /** The new budget may have made room. */
  async function askAgain(teamIds: readonly number[]): Promise<void> {
    await ask(teamIds);
    for (const listener of listeners) listener();
  }

  return {
    openPool(capacity, onRoom) {
      const pool = listeners.push(onRoom) - 1;
      const reserve = Math.floor(capacity * RESERVE);
      let total = 0;
      return {
        get total() {
          return total;
        },
        room(teamId) {
          const entry = entryOf(teamId);
          const { account } = entry;
          const mine = account.byPool[pool] ?? 0;
          const left = capacity - total;
          const share = Math.max(1, Math.floor((left + mine) / 2)) - mine;
          const unreserved = mine === 0 ? Math.max(1, left - reserve) : left - reserve;
          return Math.max(0, Math.min(left, share, unreserved, capOf(entry) - account.inFlight));
        },
        take(teamId, count) {
          const entry = entryOf(teamId);
          total += count;
          entry.byPool[pool] = (entry.byPool[pool] ?? 0) + count;
          shift(entry.account, pool, count);
        },
        giveBack(teamId, count) {
          const entry = entryOf(teamId);
          const wasFull = entry.account.inFlight >= capOf(entry);
          total -= count;
          entry.byPool[pool] = (entry.byPool[pool] ?? 0) - count;
          shift(entry.account, pool, -count);
          if (wasFull && count > 0) for (const listener of listeners) listener();
        },
      };
    },
    limitsOf: (teamId) => entryOf(teamId).limits,
    learn(teamIds) {
      const unknown = teamIds.filter((teamId) => !isKnown.has(teamId));
      if (unknown.length === 0) return null;
      return ask(unknown).then(() => {
        for (const teamId of unknown) isKnown.add(teamId);
      });
    },
    relearn(teamId) {
      if (entries.has(teamId)) askAgain([teamId]).catch(() => {});
    },
    async refreshOnce() {
      forgetIdle();
      for (const teamId of isKnown) if (!entries.has(teamId)) isKnown.delete(teamId);
      if (isKnown.size > 0) await askAgain([...isKnown]);
      return REFRESH_MS;
    },
  };
}
