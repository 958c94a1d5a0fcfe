import type { Terms } from "../domain/limits.ts";
import { requireRoom } from "../domain/limits.ts";
import { Problem } from "../domain/problem.ts";
import type { Sql } from "../store/sql.ts";
import { createStoredBytes } from "../store/stored-bytes.ts";
import { readTeamUsage } from "../store/team-usage.ts";
import { createOpenFlowQuota } from "./open-flow-quota.ts";

type Team = Terms & { readonly teamId: number };

/** A team's stored bytes and open tasks, as known on one node. */
export interface StorageQuota {
  /** Refuses a task that exceeds the team's storage, or its flows. No promise if no database query is needed. */
  admit(team: Team, bytes: number, flow?: string | null): Promise<void> | undefined;
  /** Refuses a task that begins again, if it is one open task or one open flow too many. */
  reopen(team: Team, flow?: string | null): Promise<void> | undefined;
  /** Refuses anything else that exceeds the team's storage. */
  store(team: Team, bytes: number): Promise<void> | undefined;
  /** Whether an answer may be stored within the team's limit. If so, it is counted. */
  hasRoom(teamId: number, most: number, bytes: number): boolean;
  /** As of the last query; queries if there was none. */
  bytesOf(teamId: number): Promise<number>;
}

/** Between two queries each node adds what it accepted itself. */
const COUNT_MS = 2_000;
/** Bytes are computed by scanning all of a team's rows: rarely, and the more rarely the longer it takes. */
const WEIGH_MS = 60_000;
const WEIGH_SHARE = 100;
const RETRY_SECONDS = 5;
const MOST_KNOWN = 10_000;

/** One figure of one team: queried periodically, updated in between. */
interface Figure {
  known: number;
  added: number;
  readAgainAtMs: number;
  reading: Promise<void> | null;
}

interface Entry {
  readonly open: Figure;
  readonly bytes: Figure;
}

/** What a request needs: a place among the open tasks, and so much storage; null is none. */
interface Asked {
  readonly opens: boolean;
  readonly bytes: number | null;
}

/**
 * The storage limits of a team, without a statement per task: figures are queried every few seconds while tasks arrive,
 * in the background except for the first time. So a team may exceed its limit only by what arrives meanwhile.
 */
export function createStorageQuota(deps: {
  readonly sql: Sql;
  /** The connection for the byte scan. */
  readonly chores: Sql;
  readonly monotonicMs: () => number;
}): StorageQuota {
  const { sql, chores, monotonicMs } = deps;
  const entries = new Map<number, Entry>();
  const openFlows = createOpenFlowQuota({ sql, monotonicMs });

  function entryOf(teamId: number): Entry {
    const known = entries.get(teamId);
    if (known !== undefined) return known;
    if (entries.size >= MOST_KNOWN) entries.clear();
    const fresh = (): Figure => ({ known: -1, added: 0, readAgainAtMs: 0, reading: null });
    const entry = { open: fresh(), bytes: fresh() };
    entries.set(teamId, entry);
    return entry;
  }

  function look(figure: Figure, read: () => Promise<number>, everyMs: number): Promise<void> | null {
    const beganMs = monotonicMs();
    if (figure.reading !== null || beganMs < figure.readAgainAtMs)
      return figure.known < 0 ? figure.reading : null;
    const addedBefore = figure.added;
    const reading = read().then(
      (known) => {
        figure.known = known;
        figure.added -= addedBefore;
        const tookMs = monotonicMs() - beganMs;
        figure.readAgainAtMs =
          monotonicMs() + Math.max(everyMs, everyMs > COUNT_MS ? tookMs * WEIGH_SHARE : 0);
        figure.reading = null;
      },
      (error: unknown) => {
        figure.reading = null;
        throw error;
      },
    );
    figure.reading = reading;
    if (figure.known < 0) return reading;
    // The known figure stays in use if this query fails: an unreachable database cannot store either.
    reading.catch(() => {});
    return null;
  }

  function requireOpen({ plan, limits }: Terms, { known, added }: Figure): void {
    if (limits.tasksOpen === null || known + added < limits.tasksOpen) return;
    const most = String(limits.tasksOpen);
    throw new Problem("tasks_full", { plan, most }, { retryAfterSeconds: RETRY_SECONDS });
  }

  function decide(team: Terms, { open, bytes }: Entry, asked: Asked): void {
    if (asked.opens) requireOpen(team, open);
    if (asked.bytes !== null) requireRoom(team, "bytesStored", bytes.known + bytes.added);
    if (asked.opens) open.added += 1;
    bytes.added += asked.bytes ?? 0;
  }

  function ask(team: Team, asked: Asked): Promise<void> | undefined {
    const { teamId, limits } = team;
    const asksOpen = asked.opens && limits.tasksOpen !== null;
    const asksBytes = asked.bytes !== null && limits.bytesStored !== null;
    if (!asksOpen && !asksBytes) return undefined;
    const entry = entryOf(teamId);
    const first = asksOpen ? look(entry.open, countOpen(teamId), COUNT_MS) : null;
    const second = asksBytes ? look(entry.bytes, weigh(teamId), WEIGH_MS) : null;
    if (first !== null || second !== null)
      return Promise.all([first, second]).then(() => decide(team, entry, asked));
    decide(team, entry, asked);
    return undefined;
  }

  function askWith(team: Team, flow: string | null, asked: Asked): Promise<void> | undefined {
    if (flow === null || team.limits.flowsOpen === null) return ask(team, asked);
    return openFlows.admit(team, flow).then(() => ask(team, asked));
  }

  const countOpen = (teamId: number) => async () =>
    (await readTeamUsage(sql, { teamId, environment: "live" })).tasksOpen;
  const storedBytes = createStoredBytes(chores);
  const weigh = (teamId: number) => () => storedBytes(teamId);

  return {
    admit: (team, bytes, flow = null) => askWith(team, flow, { opens: true, bytes }),
    reopen: (team, flow = null) => askWith(team, flow, { opens: true, bytes: null }),
    store: (team, bytes) => ask(team, { opens: false, bytes }),
    hasRoom(teamId, most, size) {
      const { bytes } = entryOf(teamId);
      look(bytes, weigh(teamId), WEIGH_MS)?.catch(() => {});
      if (Math.max(0, bytes.known) + bytes.added + size > most) return false;
      bytes.added += size;
      return true;
    },
    async bytesOf(teamId) {
      const { bytes } = entryOf(teamId);
      await look(bytes, weigh(teamId), WEIGH_MS);
      return Math.max(0, bytes.known + bytes.added);
    },
  };
}
