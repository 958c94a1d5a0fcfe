import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { beginDeadline, endDeadline } from "./deadlines.ts";
import type { Log } from "./log.ts";
import { explainTlsFailure } from "./tls-failure.ts";

/** A server that does not accept us or answer within this time counts as down. */
const ANSWER_MS = 1_500;
/** How often the current server is checked. */
const BEAT_MS = 1_000;
/** Interval between checks of all servers while none is writable. */
const SEEK_MS = 200;

/** The state that a server reports. */
interface Standing {
  readonly isReadOnly: boolean;
  /** Rises with every promotion; 0 where it is not told. */
  readonly timeline: number;
}

/** The writable one of several replicated servers. */
export interface Primary {
  /** The address to connect to now. */
  readonly url: string;
  readonly name: string;
  /** Checks all servers; throws with each one's state if none is writable. */
  find(): Promise<void>;
  /** From now on moves by itself when the server in use is lost. */
  watch(): void;
  /** To be asked of every new connection before it is used. Throws if this is not the server to write to. */
  check(client: pg.ClientBase): Promise<void>;
  /** Called when another server has taken over: what is connected to the one before must be let go. */
  onMoved(work: () => void): void;
  stop(): Promise<void>;
}

/**
 * The danger is a former primary that comes back, or was only cut off, and can still be written to: what is stored there is
 * lost. A promotion raises the timeline, so of two that can be written to the one with the higher timeline is right, and
 * once that was seen no connection to a lower one is used.
 */
export function createPrimary(urls: readonly string[], log: Log): Primary {
  let url = urls[0] ?? "";
  let newest = 0;
  const stopping = new AbortController();
  const { signal } = stopping;
  let watching: Promise<void> | null = null;
  const moved: (() => void)[] = [];

  /** Null once one was found, otherwise what is wrong with each. */
  async function seek(): Promise<string | null> {
    const answers = await Promise.all(urls.map(async (each) => ({ each, ...(await probe(each, signal)) })));
    const complaints = answers.map(({ each, complaint }) => `${nameOf(each)} ${complaint ?? "is ready"}`);
    const usable = answers.flatMap(({ each, standing }) =>
      standing === null || standing.isReadOnly || standing.timeline < newest ? [] : [{ each, standing }],
    );
    const [best] = usable.sort(
      (one, other) =>
        other.standing.timeline - one.standing.timeline ||
        Number(other.each === url) - Number(one.each === url),
    );
    if (best === undefined) return complaints.join("; ");
    newest = best.standing.timeline;
    if (best.each !== url) {
      log("database.primary_moved", { from: nameOf(url), to: nameOf(best.each), timeline: newest });
      url = best.each;
      for (const work of moved) work();
    }
    return null;
  }

  /** Resolves once the server in use is lost. */
  async function stay(): Promise<void> {
    await withServer(url, signal, async (ask) => {
      for (;;) {
        const standing = await ask();
        if (standing.isReadOnly || standing.timeline < newest) return;
        await sleep(BEAT_MS, undefined, { signal });
      }
    }).catch(() => {});
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await stay();
      while (!signal.aborted && (await seek()) !== null) await sleep(SEEK_MS);
    }
  }

  return {
    get url() {
      return url;
    },
    get name() {
      return nameOf(url);
    },
    async find() {
      const complaint = await seek();
      if (complaint !== null)
        throw new Error(`None of the servers in DATABASE_URL can be written to: ${complaint}.`);
    },
    watch() {
      watching ??= watch();
    },
    async check(client) {
      const { isReadOnly, timeline } = await askStanding(client);
      if (isReadOnly) throw new Error("The PostgreSQL server is read-only, perhaps a standby");
      if (timeline < newest) throw new Error("The PostgreSQL server was replaced by another");
    },
    onMoved(work) {
      moved.push(work);
    },
    async stop() {
      stopping.abort();
      await watching;
    },
  };
}

async function probe(
  url: string,
  signal: AbortSignal,
): Promise<{ standing: Standing | null; complaint: string | null }> {
  try {
    const standing = await withServer(url, signal, (ask) => ask());
    return { standing, complaint: standing.isReadOnly ? "is read-only, perhaps a standby" : null };
  } catch (error) {
    const tls = explainTlsFailure(error);
    if (tls !== null) return { standing: null, complaint: `answered, but ${tls.what}` };
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    return { standing: null, complaint: `cannot be used${code}` };
  }
}

/** A connection of its own, for questions that are each answered in time. */
async function withServer<T>(
  url: string,
  signal: AbortSignal,
  work: (ask: () => Promise<Standing>) => Promise<T>,
): Promise<T> {
  const socket = new Socket();
  const hangUp = () => socket.destroy();
  signal.addEventListener("abort", hangUp);
  const client = new pg.Client({
    connectionString: url,
    application_name: "bellhop-primary",
    keepAlive: true,
    stream: () => socket,
  });
  client.on("error", () => {});
  const inTime = async <R>(step: Promise<R>): Promise<R> => {
    const deadline = beginDeadline(ANSWER_MS, hangUp);
    return step.finally(() => endDeadline(deadline));
  };
  try {
    await inTime(client.connect());
    return await work(() => inTime(askStanding(client)));
  } finally {
    signal.removeEventListener("abort", hangUp);
    hangUp();
    await client.end().catch(() => {});
  }
}

async function askStanding(client: pg.ClientBase): Promise<Standing> {
  const { rows } = await client.query<{ isReadOnly: boolean; timeline: string }>(
    `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isReadOnly",
            case when pg_is_in_recovery() then '0' else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline`,
  );
  const [row] = rows;
  return { isReadOnly: row?.isReadOnly ?? true, timeline: Number.parseInt(row?.timeline ?? "0", 16) };
}

/** A server without its password. */
export function nameOf(url: string): string {
  const { host, port } = new pg.Client({ connectionString: url });
  return `${host}:${port}`;
}
