import pg from "pg";

export interface Listener {
  stop(): Promise<void>;
}

const RECONNECT_MS = 500;

/**
 * Hears what other nodes say on a channel, on a connection of its own. Notifications sent while it was away are
 * lost for good: `onConnected` is called after each (re)connection so that the caller can look for itself.
 */
export function createListener(options: {
  readonly connect: () => pg.Client;
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  readonly onConnected: () => void;
}): Listener {
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  async function open(): Promise<void> {
    const candidate = options.connect();
    candidate.on("error", () => retry(candidate));
    candidate.on("end", () => retry(candidate));
    candidate.on("notification", (notice) => options.onMessage(notice.payload ?? ""));
    client = candidate;
    try {
      await candidate.connect();
      await candidate.query(`listen ${pg.escapeIdentifier(options.channel)}`);
      if (client === candidate) options.onConnected();
    } catch {
      retry(candidate);
    }
  }

  function retry(failed: pg.Client): void {
    if (stopped || client !== failed) return;
    client = null;
    failed.end().catch(() => {});
    timer = setTimeout(open, RECONNECT_MS);
  }

  void open();

  return {
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}
