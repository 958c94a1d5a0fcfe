import type { Command } from "commander";
import { createQstashApi, type QstashApi } from "./qstash-api.ts";
import { readSecret } from "./read-secret.ts";
import { type ServerOptions, serverCommand, showRows, type User } from "./user.ts";

interface ImportOptions extends ServerOptions {
  readonly url: string;
  readonly dryRun?: true;
}

/** One thing that was copied, or would be. */
interface Copied {
  readonly kind: "queue" | "URL group" | "schedule";
  readonly name: string;
  readonly result: string;
}

const QSTASH_URL = "https://qstash.upstash.io";

export function addImportCommands(program: Command, user: User): void {
  const imports = program.command("import").description("copy settings from another service");

  serverCommand(imports, "qstash", "copy queues, URL groups and schedules from a QStash-compatible address")
    .option("--url <url>", "address of that service", QSTASH_URL)
    .option("--dry-run", "only show what would be copied")
    .action(async ({ url, dryRun, ...options }: ImportOptions) => {
      const chosen = await user.choose(options);
      const token = process.env.QSTASH_TOKEN || (await readSecret("Token of the service to copy from"));
      const copied = await copyAll(
        createQstashApi(url, token),
        dryRun === true ? null : createQstashApi(chosen.url, chosen.apiKey),
      );
      showRows(user, options, copied, { columns: COLUMNS, none: "Nothing to copy" });
      if (copied.some(({ result }) => result.startsWith("not copied"))) process.exitCode = 1;
    });
}

const COLUMNS = [
  { title: "KIND", of: ({ kind }: Copied) => kind },
  { title: "NAME", of: ({ name }: Copied) => name },
  { title: "RESULT", of: ({ result }: Copied) => result },
];

/** Each is created or replaced under its name, so a second run changes nothing. Null: nothing is written. */
async function copyAll(from: QstashApi, to: QstashApi | null): Promise<Copied[]> {
  const copied: Copied[] = [];
  const copy = async (
    kind: Copied["kind"],
    given: unknown,
    work: (to: QstashApi, name: string) => Promise<unknown>,
  ) => {
    const name = nameIn(given);
    const result =
      name === null
        ? "not copied: its name is not one that a path can have"
        : to === null
          ? "would be copied"
          : await work(to, name).then(() => "copied", refused);
    copied.push({ kind, name: name ?? "?", result });
  };
  for (const { name, parallelism, paused } of objectsIn(await from.get("queues"))) {
    await copy("queue", name, (api, queueName) => {
      const body = JSON.stringify({ queueName, parallelism, paused });
      return api.send("POST", "queues", { headers: JSON_BODY, body });
    });
  }
  for (const { name, endpoints } of objectsIn(await from.get("topics"))) {
    await copy("URL group", name, (api, group) => {
      const body = JSON.stringify({ endpoints: objectsIn(endpoints).map(endpointOf) });
      return api.send("POST", `topics/${encodeURIComponent(group)}/endpoints`, { headers: JSON_BODY, body });
    });
  }
  for (const schedule of objectsIn(await from.get("schedules"))) {
    const { scheduleId, destination, isPaused } = schedule;
    await copy("schedule", scheduleId, async (api, id) => {
      await api.send("POST", `schedules/${destinationPath(destination)}`, scheduleRequest(schedule));
      if (isPaused === true) await api.send("PATCH", `schedules/${encodeURIComponent(id)}/pause`, {});
    });
  }
  return copied;
}

/**
 * A name from the other service, which may be hostile: it becomes a part of a path of this server. Null for what is not a text, and for
 * the two names that no escape keeps from being resolved.
 */
function nameIn(value: unknown): string | null {
  return typeof value === "string" && !/^\.{0,2}$/.test(value) ? value : null;
}

/** A URL stands in the path as it is, after its dots have been resolved; the name of a URL group is escaped. */
function destinationPath(value: unknown): string {
  const name = nameIn(value);
  const url = name !== null && /^https?:/i.test(name) && URL.canParse(name) ? new URL(name) : null;
  if (name === null || (url !== null && nameIn(url.hostname) === null))
    throw new Error("its destination is not a URL or a name");
  return url === null ? encodeURIComponent(name) : url.href;
}

const JSON_BODY = { "content-type": "application/json" };

type Fields = Readonly<Record<string, unknown>>;

function endpointOf({ name, url }: Fields): Fields {
  return { ...(name !== undefined && name !== "" && { name }), url };
}

function scheduleRequest(schedule: Fields): { headers: Record<string, string>; body?: string | Buffer } {
  const found = new Map<string, string>();
  const set = (name: string, value: unknown, unit = "") => {
    if (value !== undefined && value !== null && value !== "") found.set(name, `${String(value)}${unit}`);
  };
  set("Upstash-Cron", schedule.cron);
  set("Upstash-Schedule-Id", schedule.scheduleId);
  set("Upstash-Method", schedule.method);
  set("Upstash-Retries", schedule.retries);
  set("Upstash-Retry-Delay", schedule.retryDelayExpression);
  set("Upstash-Delay", schedule.delay, "s");
  set("Upstash-Callback", schedule.callback);
  set("Upstash-Failure-Callback", schedule.failureCallback);
  set("Upstash-Queue-Name", schedule.queueName);
  set("Upstash-Label", Array.isArray(schedule.labels) ? schedule.labels.join(",") : schedule.label);
  set("Upstash-Flow-Control-Key", schedule.flowControlKey);
  const figures = [
    ["parallelism", schedule.parallelism],
    ["rate", schedule.rate],
    ["period", schedule.period],
  ].filter(([, figure]) => typeof figure === "number" && figure > 0);
  if (schedule.flowControlKey !== undefined)
    set("Upstash-Flow-Control-Value", figures.map(([name, figure]) => `${name}=${figure}`).join(", "));
  if (isFields(schedule.header))
    for (const [name, values] of Object.entries(schedule.header))
      set(`Upstash-Forward-${name}`, Array.isArray(values) ? values.join(", ") : values);
  const headers = Object.fromEntries(found);
  const { body, bodyBase64 } = schedule;
  if (typeof bodyBase64 === "string") return { headers, body: Buffer.from(bodyBase64, "base64") };
  return typeof body === "string" && body !== "" ? { headers, body } : { headers };
}

function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refused(error: unknown): string {
  return `not copied: ${error instanceof Error ? error.message.replaceAll("\n", " ") : String(error)}`;
}
