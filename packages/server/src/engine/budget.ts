import type { Limits } from "../domain/limits.ts";
import { LIMITS, UNBOUNDED } from "../domain/limits.ts";

/** Whom a team's calls are counted with, and what it may do. */
export interface TeamBudget {
  readonly teamId: number;
  /** Teams of one account share one budget: the free teams of one person. */
  readonly account: string;
  readonly limits: Limits;
}

export type FindBudgets = (teamIds: readonly number[]) => Promise<readonly TeamBudget[]>;

/** One kind of work that a node does side by side, for all teams: calls, polls, notifications. */
export interface Pool {
  /** How many more a team may begin now; never less than 0. */
  room(teamId: number): number;
  take(teamId: number, count: number): void;
  giveBack(teamId: number, count: number): void;
  readonly total: number;
}

export interface Budget {
  /** `onRoom`: an account that had used up its budget may begin more, here or in another pool. */
  openPool(capacity: number, onRoom: () => void): Pool;
  limitsOf(teamId: number): Limits;
  /** Asks for teams that are not known yet; null where all are, so that most callers need not wait. */
  learn(teamIds: readonly number[]): Promise<void> | null;
  /** A team's plan has changed. If it cannot be read now, the next refresh makes up for it. */
  relearn(teamId: number): void;
  /** Asks again for all that are known: owners and plans change, and a hint may be lost. */
  refreshOnce(): Promise<number>;
}

const REFRESH_MS = 30_000;
/** More teams than one node works for at a time. Those that have nothing under way are forgotten beyond it. */
const MOST_KNOWN = 20_000;
/** Of a pool, the part that is kept for accounts that have nothing under way there: one each. */
const RESERVE = 1 / 8;

interface Account {
  inFlight: number;
  readonly byPool: number[];
}

interface Entry {
  account: Account;
  key: string;
  limits: Limits;
  /** What the team itself has under way: it goes along when the team comes to another account. */
  readonly byPool: number[];
}

/**
 * What keeps one team, or all free teams of one person, from taking a node for itself, in memory. Four bounds hold for each
 * account: the plan's figure, over all pools; half of what the others leave of a pool, so that accounts without a figure
 * leave room for the next; the reserve, which only an account with nothing under way may draw on; the pool itself.
 * The plan's figure is for all nodes: each allows its part.
 */
export function createBudget(deps: {
  readonly find: FindBudgets;
  /** How many nodes are at work, this one included. */
  readonly nodes: () => number;
}): Budget {
  const entries = new Map<number, Entry>();
  const accounts = new Map<string, Account>();
  /** Teams that were asked about. */
  const isKnown = new Set<number>();
  const listeners: (() => void)[] = [];

  function accountOf(key: string): Account {
    const known = accounts.get(key);
    if (known !== undefined) return known;
    const account: Account = { inFlight: 0, byPool: listeners.map(() => 0) };
    accounts.set(key, account);
    return account;
  }

  /** A team that was not asked about goes by the tightest plan until it is. */
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

  /** What changed may have made room. */
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
