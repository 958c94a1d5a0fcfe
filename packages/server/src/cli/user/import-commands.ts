import type { Command } from "commander";
import { createQstashApi, type QstashApi } from "./qstash-api.ts";
import { type ServerOptions, serverCommand, showRows, type User } from "./user.ts";

interface ImportOptions extends ServerOptions {
  readonly token: string;
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
    .requiredOption("--token <token>", "token of the service to copy from")
    .option("--url <url>", "address of that service", QSTASH_URL)
    .option("--dry-run", "only show what would be copied")
    .action(async ({ token, url, dryRun, ...options }: ImportOptions) => {
      const chosen = await user.choose(options);
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
  const copy = async (kind: Copied["kind"], name: string, work: (to: QstashApi) => Promise<unknown>) => {
    const result = to === null ? "would be copied" : await work(to).then(() => "copied", refused);
    copied.push({ kind, name, result });
  };
  for (const queue of objectsIn(await from.get("queues"))) {
    const { name: queueName, parallelism, paused } = queue;
    const body = JSON.stringify({ queueName, parallelism, paused });
    await copy("queue", String(queueName), (api) => api.send("POST", "queues", { headers: JSON_BODY, body }));
  }
  for (const { name, endpoints } of objectsIn(await from.get("topics"))) {
    const body = JSON.stringify({ endpoints: objectsIn(endpoints).map(endpointOf) });
    const path = `topics/${String(name)}/endpoints`;
    await copy("URL group", String(name), (api) => api.send("POST", path, { headers: JSON_BODY, body }));
  }
  for (const schedule of objectsIn(await from.get("schedules"))) {
    const { scheduleId, destination, isPaused } = schedule;
    await copy("schedule", String(scheduleId), async (api) => {
      await api.send("POST", `schedules/${String(destination)}`, scheduleRequest(schedule));
      if (isPaused === true) await api.send("PATCH", `schedules/${String(scheduleId)}/pause`, {});
    });
  }
  return copied;
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
