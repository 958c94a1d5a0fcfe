import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import pg from "pg";
import { beginDeadline, type Deadline, endDeadline } from "./deadlines.ts";
import { CONNECT_TIMEOUT_MS, type ConnectionSettings, clientConfig, GOODBYE_MS } from "./pool.ts";

export interface Listener {
  stop(): Promise<void>;
}

const RECONNECT_MS = 500;
/** Including the answer timeout and the reconnect, a silent connection is replaced within 5 s. */
const BEAT_MS = 2_000;

interface Line {
  readonly client: pg.Client;
  readonly socket: Socket;
  /** The deadline of the connection attempt or of the last ping. */
  deadline: Deadline;
}

/**
 * Listens on a channel, on a separate connection. Notifications sent while it was disconnected are lost: `onConnected`
 * is called after each (re)connection so that the caller can poll. A silent connection looks like one without messages,
 * so the listener sends itself a ping now and then, on its own channel, and replaces the connection if the ping does
 * not arrive.
 */
export function createListener(options: {
  readonly connection: ConnectionSettings;
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  readonly onConnected: () => void;
  readonly beatMs?: number;
}): Listener {
  const { channel, beatMs = BEAT_MS } = options;
  const beatChannel = `${channel}-${randomBytes(8).toString("hex")}`;
  const listen = [channel, beatChannel].map((name) => `listen ${pg.escapeIdentifier(name)}`).join("; ");
  const speak = `notify ${pg.escapeIdentifier(beatChannel)}`;
  let current: Line | null = null;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  async function open(): Promise<void> {
    const socket = new Socket();
    const client = new pg.Client({
      ...clientConfig(options.connection, "bellhop-listen"),
      stream: () => socket,
    });
    const line: Line = { client, socket, deadline: expectAnswer(socket) };
    current = line;
    client.on("error", () => retry(line));
    client.on("end", () => retry(line));
    client.on("notification", ({ channel: spokenOn, payload }) => {
      if (spokenOn === beatChannel) rest(line);
      else options.onMessage(payload ?? "");
    });
    try {
      await client.connect();
      await client.query(listen);
      if (current === line) options.onConnected();
      await client.query(speak);
    } catch {
      retry(line);
    }
  }

  /** The ping arrived; the next follows after a while. */
  function rest(line: Line): void {
    if (!endDeadline(line.deadline) || stopped) return;
    timer = setTimeout(() => {
      line.deadline = expectAnswer(line.socket);
      line.client.query(speak).catch(() => retry(line));
    }, beatMs);
  }

  function retry(failed: Line): void {
    endDeadline(failed.deadline);
    if (stopped || current !== failed) return;
    current = null;
    failed.socket.destroy();
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(open, RECONNECT_MS);
  }

  if ("primary" in options.connection) {
    options.connection.primary.onMoved(() => {
      current?.socket.destroy();
    });
  }
  void open();

  return {
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      if (current === null) return;
      const { client, socket, deadline } = current;
      endDeadline(deadline);
      const goodbye = setTimeout(() => socket.destroy(), GOODBYE_MS);
      await client.end().catch(() => {});
      clearTimeout(goodbye);
      socket.destroy();
    },
  };
}

function expectAnswer(socket: Socket): Deadline {
  return beginDeadline(CONNECT_TIMEOUT_MS, () => socket.destroy());
}
