import { connect, createServer, type Server, type Socket } from "node:net";

export type Way = "to-server" | "to-client";

/** What happens to bytes: they pass, wait until the rule ends, or are lost and with them the connection, unnoticed. */
export type Treatment = "pass" | "hold" | "lose";

export interface Rule {
  /** The connections it is for, by the use that Bellhop names them after; null for all. */
  readonly uses: readonly string[] | null;
  readonly toServer: Treatment;
  readonly toClient: Treatment;
  /** How much later each piece arrives. */
  readonly delayMs: number;
  /** New connections are closed at once. */
  readonly refuses: boolean;
}

export const NO_RULE: Rule = { uses: null, toServer: "pass", toClient: "pass", delayMs: 0, refuses: false };

export interface Line {
  readonly port: number;
  /** The rule for connections there are and connections to come. Ends the rule before it. */
  set(rule: Rule): void;
  /** How long every round trip takes, from now on, whatever the rule. */
  setLatency(ms: number): void;
  /** Breaks connections there are; returns how many. */
  cut(use: string | null): number;
  /** How many pieces are held on their way to the node. */
  heldAnswers(): number;
  stop(): Promise<void>;
}

/** A server's own keepalive finds a lost client after a while: a backend with its locks does not stay for ever. */
const LOST_BACKEND_MS = 30_000;

/** Null stands for the end of the connection, which waits and is lost like everything else. */
type Piece = Buffer | null;

interface Link {
  readonly use: string;
  readonly client: Socket;
  readonly server: Socket;
  /** Silent for good: the network has lost it, and neither end was told. */
  lost: boolean;
  readonly held: { way: Way; piece: Piece }[];
  /** What is under way, in order: nothing overtakes what was sent before it. */
  readonly underWay: Readonly<Record<Way, { readonly piece: Piece; readonly dueAt: number }[]>>;
}

/** Stands between one node and the database, and does to their connections what networks do. */
export async function startLine(socketPath: string): Promise<Line> {
  const links = new Set<Link>();
  let rule = NO_RULE;
  let latencyMs = 0;

  const server = createServer((client) => {
    client.on("error", () => {});
    if (rule.refuses && rule.uses === null) return void client.destroy();
    // The first packet says for what the connection is; nothing is decided before.
    client.once("data", (first) => open(client, first));
  });

  function open(client: Socket, first: Buffer): void {
    const use = readUse(first);
    if (rule.refuses && isFor(rule, use)) return void client.destroy();
    client.setNoDelay();
    const backend = connect(socketPath);
    backend.on("error", () => client.destroy());
    const underWay = { "to-server": [], "to-client": [] };
    const link: Link = { use, client, server: backend, lost: false, held: [], underWay };
    links.add(link);
    lose(link);
    pass(link, "to-server", first);
    client.on("data", (chunk) => pass(link, "to-server", chunk));
    backend.on("data", (chunk) => pass(link, "to-client", chunk));
    client.on("close", () => pass(link, "to-server", null));
    backend.on("close", () => pass(link, "to-client", null));
  }

  function pass(link: Link, way: Way, piece: Piece): void {
    if (link.lost) return;
    const treatment = isFor(rule, link.use) ? (way === "to-server" ? rule.toServer : rule.toClient) : "pass";
    if (treatment === "lose") return;
    // What follows may not overtake what is held.
    if (treatment === "hold" || link.held.some((held) => held.way === way))
      return void link.held.push({ way, piece });
    const delayMs = latencyMs / 2 + (isFor(rule, link.use) ? rule.delayMs : 0);
    const queue = link.underWay[way];
    queue.push({ piece, dueAt: performance.now() + delayMs });
    if (queue.length === 1) deliverDue(link, way);
  }

  /** Waits for the first piece that is under way, and delivers what is due, one after the other. */
  function deliverDue(link: Link, way: Way): void {
    const queue = link.underWay[way];
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const waitMs = next.dueAt - performance.now();
      if (waitMs > 0) return void setTimeout(deliverDue, waitMs, link, way);
      queue.shift();
      deliver(link, way, next.piece);
    }
  }

  function deliver(link: Link, way: Way, piece: Piece): void {
    const end = way === "to-server" ? link.server : link.client;
    if (piece === null) {
      end.destroy();
      if (link.client.destroyed && link.server.destroyed) links.delete(link);
    } else if (!end.destroyed) end.write(piece);
  }

  function lose(link: Link): void {
    if (!isFor(rule, link.use) || (rule.toServer !== "lose" && rule.toClient !== "lose")) return;
    // Losing one way only, the other still works for a while: it is lost for good once the rule ends.
    if (rule.toServer === "lose" && rule.toClient === "lose") link.lost = true;
    setTimeout(() => {
      if (link.lost) link.server.destroy();
    }, LOST_BACKEND_MS).unref();
  }

  return {
    port: await listen(server),
    set(next) {
      const before = rule;
      rule = NO_RULE;
      for (const link of links) {
        if (isFor(before, link.use) && (before.toServer === "lose" || before.toClient === "lose"))
          link.lost = true;
        for (const { way, piece } of link.held.splice(0)) pass(link, way, piece);
      }
      rule = next;
      for (const link of links) lose(link);
    },
    setLatency(ms) {
      latencyMs = ms;
    },
    cut(use) {
      const broken = [...links].filter((link) => !link.lost && (use === null || link.use === use));
      for (const { client, server: backend } of broken) {
        client.destroy();
        backend.destroy();
      }
      return broken.length;
    },
    heldAnswers: () =>
      [...links].reduce((sum, { held }) => sum + held.filter(({ way }) => way === "to-client").length, 0),
    async stop() {
      for (const { client, server: backend } of links) {
        client.destroy();
        backend.destroy();
      }
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function isFor(rule: Rule, use: string): boolean {
  return rule.uses === null || rule.uses.includes(use);
}

/** A start-up packet is a length, a version, and names and values, each ended by a zero: application_name is one. */
function readUse(packet: Buffer): string {
  const fields = packet.subarray(8).toString("latin1").split("\0");
  const name = fields[fields.indexOf("application_name") + 1] ?? "";
  return name.replace(/^bellhop-/, "");
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
