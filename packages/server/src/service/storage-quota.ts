import type { Terms } from "../domain/limits.ts";
import { requireRoom } from "../domain/limits.ts";
import { Problem } from "../domain/problem.ts";
import type { NewTask } from "../domain/task.ts";
import type { Sql } from "../store/sql.ts";
import { readStoredBytes } from "../store/stored-bytes.ts";
import { readTeamUsage } from "../store/team-usage.ts";
import { createOpenFlowQuota } from "./open-flow-quota.ts";

/** A team's stored bytes and open tasks, as known on one node. */
export interface StorageQuota {
  /** Refuses a task that exceeds the team's storage, or its flows. No promise if no database query is needed. */
  admit(
    team: Terms & { readonly teamId: number },
    bytes: number,
    flow?: string | null,
  ): Promise<void> | undefined;
  /** Whether an answer may be stored within the team's limit. If so, it is counted. */
  hasRoom(teamId: number, most: number, bytes: number): boolean;
  /** As of the last query; queries if there was none. */
  bytesOf(teamId: number): Promise<number>;
}

/** The approximate storage of a task with its tags and idempotency key. */
export function storedSize({
  call,
  tags,
  idempotency,
}: Pick<NewTask, "call" | "tags" | "idempotency">): number {
  let size = 300 + (call.body?.length ?? 0);
  if (tags !== null) for (const tag of tags) size += 100 + 2 * tag.length;
  if (idempotency !== null) size += 150 + 2 * idempotency.key.length;
  return size;
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

  function decide({ plan, limits }: Terms, { open, bytes }: Entry, size: number): void {
    if (limits.tasksOpen !== null && open.known + open.added >= limits.tasksOpen)
      throw new Problem(
        "tasks_full",
        { plan, most: String(limits.tasksOpen) },
        { retryAfterSeconds: RETRY_SECONDS },
      );
    requireRoom({ plan, limits }, "bytesStored", bytes.known + bytes.added);
    open.added += 1;
    bytes.added += size;
  }

  const countOpen = (teamId: number) => async () =>
    (await readTeamUsage(sql, { teamId, environment: "live" })).tasksOpen;
  const weigh = (teamId: number) => () => readStoredBytes(chores, teamId);

  const quota: StorageQuota = {
    admit(team, size, flow = null) {
      const { teamId, limits } = team;
      if (flow !== null && limits.flowsOpen !== null)
        return openFlows.admit(team, flow).then(() => quota.admit(team, size));
      if (limits.tasksOpen === null && limits.bytesStored === null) return undefined;
      const entry = entryOf(teamId);
      const looks = [
        limits.tasksOpen === null ? null : look(entry.open, countOpen(teamId), COUNT_MS),
        limits.bytesStored === null ? null : look(entry.bytes, weigh(teamId), WEIGH_MS),
      ].filter((each) => each !== null);
      if (looks.length > 0) return Promise.all(looks).then(() => decide(team, entry, size));
      decide(team, entry, size);
      return undefined;
    },
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
  return quota;
}
