import { ApiError, type Bellhop } from "../sdk.ts";
import { probe } from "./probe.ts";

export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failed" | "unknown";
  readonly found: string;
  /** What to do about it; null if no action is needed. */
  readonly todo: string | null;
}

/** Receivers refuse signatures that are 5 minutes off; this limit warns well before. */
const CLOCK_MS = 30_000;
const NODE_CLOCK_MS = 1_000;
/** A node writes its heartbeat every 4 seconds. */
const SILENT_MS = 30_000;

const ok = (check: string, found: string): Finding => ({ check, state: "ok", found, todo: null });
const finding = (check: string, state: Finding["state"], found: string, todo: string): Finding => ({
  check,
  state,
  found,
  todo,
});

/** Checks a server from the client's side. If the server cannot be reached, the other checks are skipped. */
export async function examine(
  { url, apiKey, from }: { readonly url: string; readonly apiKey: string; readonly from: string },
  client: Bellhop,
  own: { readonly version: string; readonly now: () => number },
): Promise<readonly Finding[]> {
  const live = await probe(url, "livez");
  if (live.status === null)
    return [
      finding(
        "server",
        "failed",
        `${url} cannot be reached: ${live.why}`,
        "Start it, or correct the address (bellhop login, BELLHOP_URL); check firewalls and proxies in between",
      ),
    ];
  if (live.status !== 200)
    return [
      finding(
        "server",
        "failed",
        `${url}/livez answers ${live.status}`,
        "Another program answers there: check the address and the proxy in front",
      ),
    ];
  return [
    ok("server", `${url} answers`),
    await readiness(url),
    await version(url, own.version),
    clock(live.date, own.now()),
    await key(client, apiKey, from),
    await exposure(url),
    await vault(client),
    ...(await database(client)),
  ];
}

async function readiness(url: string): Promise<Finding> {
  const ready = await probe(url, "readyz");
  const checks = fieldOf(ready.status === null ? null : ready.json, "checks") ?? {};
  const isApiOnly = fieldOf(checks, "database") !== undefined && fieldOf(checks, "dispatcher") === undefined;
  if (ready.status === 200)
    return ok("ready", `every check of the node passes${isApiOnly ? "; it makes no calls itself" : ""}`);
  const wrong = Object.entries(checks)
    .filter(([, state]) => state !== "ok")
    .map(([part, state]) => `${part} ${state}`);
  return finding(
    "ready",
    "failed",
    wrong.join("; ") || `/readyz answers ${ready.status ?? "nothing"}`,
    "Check the database first, then the node's log: docs/production.md, troubleshooting",
  );
}

async function version(url: string, own: string): Promise<Finding> {
  const described = await probe(url, "openapi.json");
  const found = fieldOf(fieldOf(described.status === 200 ? described.json : null, "info"), "version");
  if (typeof found !== "string")
    return finding(
      "version",
      "unknown",
      "not available",
      "A node of the role worker serves no API: use the address of another node",
    );
  return found === own
    ? ok("version", found)
    : finding(
        "version",
        "warning",
        `the server is ${found}, this command ${own}`,
        "Use the same version of both",
      );
}

function clock(theirs: Date | null, now: number): Finding {
  if (theirs === null) return finding("clock", "unknown", "not available", "A proxy removes the Date header");
  const offMs = theirs.getTime() - now;
  const seconds = Math.round(Math.abs(offMs) / 1000);
  return Math.abs(offMs) < CLOCK_MS
    ? ok("clock", "agrees with this machine's")
    : finding(
        "clock",
        "warning",
        `the server is ${seconds} s ${offMs > 0 ? "ahead of" : "behind"} this machine`,
        "Synchronise both (NTP): signatures are refused when they are 5 minutes off",
      );
}

async function key(client: Bellhop, apiKey: string, from: string): Promise<Finding> {
  const asked = await ask(client.me());
  if (asked.refused === null) {
    const { name, team, role, environment } = asked.value;
    const sandbox = environment === "test" ? "; a test key: its tasks are never called" : "";
    return ok("key", `${apiKey.slice(0, 12)}… of ${from} is "${name}" of ${team.name}, ${role}${sandbox}`);
  }
  return finding(
    "key",
    "failed",
    `${apiKey.slice(0, 12)}… of ${from}: ${asked.refused}`,
    "Create another (bellhop keys create, or bellhop key create on the server's machine) and run bellhop login",
  );
}

async function exposure(url: string): Promise<Finding> {
  const { protocol, hostname } = new URL(url);
  if (/^(localhost|127\..*|\[::1\])$/.test(hostname))
    return ok("exposure", "only this machine can use this address");
  if (protocol !== "https:")
    return finding(
      "exposure",
      "warning",
      "reached over the network without TLS: keys can be read on the way",
      "Put a proxy with TLS in front: docs/production.md",
    );
  const metrics = await probe(url, "metrics");
  return metrics.status === 200
    ? finding(
        "exposure",
        "warning",
        "/metrics is public",
        "Set BELLHOP_PUBLIC_URL to this address, or BELLHOP_METRICS_TOKEN",
      )
    : ok("exposure", "TLS, and /metrics is not public");
}

async function vault(client: Bellhop): Promise<Finding> {
  const asked = await ask(client.tokens.list());
  if (asked.refused === null) return ok("vault", `on, ${asked.value.length} credentials stored`);
  return asked.code === "vault_off"
    ? finding(
        "vault",
        "warning",
        "off: credentials cannot be stored",
        "Set BELLHOP_VAULT_KEYS on every node: the key that encrypted the stored credentials, or a new one from bellhop vault key",
      )
    : finding("vault", "unknown", asked.refused, "Use a key that may read credentials");
}

async function database(client: Bellhop): Promise<Finding[]> {
  const asked = await ask(client.system());
  if (asked.refused !== null)
    return [
      finding(
        "PostgreSQL",
        "unknown",
        asked.code === "not_found" ? "this key may not see the database and the nodes" : asked.refused,
        "Use a key of the operator's team",
      ),
    ];
  const { database: postgres, nodes } = asked.value;
  const kind = postgres.embedded ? "embedded" : "external";
  const off = nodes.filter(({ clockOffsetMs }) => Math.abs(clockOffsetMs) > NODE_CLOCK_MS);
  return [
    ok("PostgreSQL", `${postgres.version}, ${kind}, schema ${postgres.schema}`),
    fleet(nodes),
    ...off.map(({ name, clockOffsetMs }) =>
      finding(
        "clock",
        "warning",
        `${name} is ${Math.round(clockOffsetMs)} ms off the database's`,
        "Synchronise its clock (NTP)",
      ),
    ),
  ];
}

type Nodes = Awaited<ReturnType<Bellhop["system"]>>["nodes"];

function fleet(nodes: Nodes): Finding {
  const callers = nodes.filter(({ lease }) => lease === "held").length;
  if (callers === 0)
    return finding(
      "nodes",
      "failed",
      `${nodes.length}, but none makes calls: tasks wait`,
      "Start a node of the role worker or all; the log of a running one says why it holds no lease",
    );
  const troubled = nodes.filter(({ lease }) => lease === "expired" || lease === "lost");
  if (troubled.length > 0)
    return finding(
      "nodes",
      "warning",
      `${namesOf(troubled)} cannot make calls`,
      "Restart them if they still run; other nodes have taken over their tasks. A crashed node is listed for an hour",
    );
  const silent = nodes.filter(({ lagMs }) => lagMs > SILENT_MS);
  if (silent.length > 0)
    return finding(
      "nodes",
      "warning",
      `no heartbeat for ${SILENT_MS / 1000} s: ${namesOf(silent)}`,
      "Restart them if they still run. A crashed node is listed for an hour",
    );
  const versions = new Set(nodes.map((node) => node.version));
  if (versions.size > 1)
    return finding(
      "nodes",
      "warning",
      `run ${[...versions].join(" and ")}`,
      "Finish the upgrade: the same version on every node",
    );
  return ok(
    "nodes",
    `${nodes.length}, all healthy${callers < nodes.length ? `; ${callers} make calls` : ""}`,
  );
}

function namesOf(nodes: Nodes): string {
  return nodes.map(({ name }) => name).join(", ");
}

type Asked<Value> =
  | { readonly refused: null; readonly value: Value }
  | { readonly refused: string; readonly code: string };

async function ask<Value>(answer: Promise<Value>): Promise<Asked<Value>> {
  try {
    return { refused: null, value: await answer };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { refused: error.message, code: error instanceof ApiError ? error.code : "unknown" };
  }
}

function fieldOf(value: unknown, name: string): object | string | undefined {
  return typeof value === "object" && value !== null
    ? (value as Record<string, object | string | undefined>)[name]
    : undefined;
}
