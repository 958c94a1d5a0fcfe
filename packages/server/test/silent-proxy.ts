import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";

/** Which way bytes go: `request` from the node to PostgreSQL, `answer` back. */
export type Way = "request" | "answer";

/** One connection of a node. */
export interface Link {
  /** Its application_name: what the node uses it for. */
  readonly use: string;
  /** Bytes that come this way stay here from now on; the connection stays open. */
  stall(way: Way): void;
}

/** Stands between a node and PostgreSQL, and does what networks do: it keeps connections open and passes nothing on. */
export interface SilentProxy {
  readonly port: number;
  readonly links: readonly Link[];
  /** Every connection goes silent, both ways, and so does every new one. */
  silence(): void;
  /** Connections of this use go silent, both ways. New ones are passed on. */
  silenceUse(use: string): void;
  /** From now on what goes this way on the connection that next carries this text stays here. */
  stallNext(text: string, way: Way): Promise<Link>;
  /**
   * Each statement is lost when it first comes, with its connection: before PostgreSQL has it, or once it has answered. Those on
   * connections of the use `spared` are not. Returns the texts of those that were lost, which grow.
   */
  loseEachOnce(way: Way, spared: string): ReadonlySet<string>;
  /** What was kept is passed on, late; nothing is kept any more. */
  release(): void;
  close(): Promise<void>;
}

interface OpenLink extends Link {
  use: string;
  /** Its next answer is lost. */
  isDoomed: boolean;
  readonly stalled: Set<Way>;
  readonly kept: { readonly way: Way; readonly bytes: Buffer | null }[];
  readonly pass: (way: Way, bytes: Buffer | null) => void;
  readonly destroy: () => void;
}

export async function startSilentProxy(target: { host: string; port: number }): Promise<SilentProxy> {
  const links: OpenLink[] = [];
  const waiting: { text: string; way: Way; found: (link: Link) => void }[] = [];
  let silent = false;
  let losing: { readonly way: Way; readonly spared: string; readonly lost: Set<string> } | null = null;

  /** Whether these bytes are not to be passed on, because the connection is lost instead. */
  function lose(link: OpenLink, way: Way, bytes: Buffer): boolean {
    if (losing === null || link.use === losing.spared) return false;
    if (way === "request") {
      const statement = statementIn(bytes);
      if (statement === null || losing.lost.has(statement)) return false;
      losing.lost.add(statement);
      link.isDoomed = true;
    }
    if (!link.isDoomed || way !== losing.way) return false;
    link.destroy();
    return true;
  }

  function carry(link: OpenLink, way: Way, bytes: Buffer | null): void {
    if (link.stalled.has(way)) link.kept.push({ way, bytes });
    else link.pass(way, bytes);
  }

  function recognise(link: OpenLink, bytes: Buffer): void {
    const text = bytes.toString("latin1");
    link.use ||= /application_name\0([^\0]*)\0/.exec(text)?.[1] ?? "";
    for (const [index, { text: wanted, way, found }] of waiting.entries()) {
      if (!text.includes(wanted)) continue;
      waiting.splice(index, 1);
      link.stall(way);
      found(link);
      return;
    }
  }

  const server: Server = createServer({ allowHalfOpen: true }, (node: Socket) => {
    const database = createConnection({
      path: `${target.host}/.s.PGSQL.${target.port}`,
      allowHalfOpen: true,
    });
    const link: OpenLink = {
      use: "",
      isDoomed: false,
      stalled: new Set(),
      kept: [],
      stall: (way) => link.stalled.add(way),
      pass(way, bytes) {
        const to = way === "request" ? database : node;
        if (to.destroyed || to.writableEnded) return;
        if (bytes === null) to.end();
        else to.write(bytes);
      },
      destroy() {
        node.destroy();
        database.destroy();
      },
    };
    links.push(link);
    if (silent) stallBothWays(link);
    for (const [from, way] of [
      [node, "request"],
      [database, "answer"],
    ] as const) {
      from.on("data", (bytes: Buffer) => {
        if (way === "request") recognise(link, bytes);
        if (lose(link, way, bytes)) return;
        carry(link, way, bytes);
      });
      from.on("end", () => carry(link, way, null));
      from.on("error", () => carry(link, way, null));
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();

  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    links,
    silence() {
      silent = true;
      for (const link of links) stallBothWays(link);
    },
    silenceUse(use) {
      for (const link of links) if (link.use === use) stallBothWays(link);
    },
    stallNext: (text, way) => new Promise((found) => waiting.push({ text, way, found })),
    loseEachOnce(way, spared) {
      losing = { way, spared, lost: new Set() };
      return losing.lost;
    },
    release() {
      silent = false;
      for (const link of links) {
        link.stalled.clear();
        for (const { way, bytes } of link.kept.splice(0)) link.pass(way, bytes);
      }
    },
    async close() {
      for (const link of links) link.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function stallBothWays(link: OpenLink): void {
  link.stalled.add("request");
  link.stalled.add("answer");
}

/** The text of a query, or of a statement that is prepared; null in what else a client says. */
function statementIn(bytes: Buffer): string | null {
  const [kind, body] = [String.fromCharCode(bytes[0] ?? 0), bytes.toString("latin1", 5)];
  if (kind === "Q") return body.split("\0")[0] ?? null;
  return kind === "P" ? (body.split("\0")[1] ?? null) : null;
}
