import type { Task } from "@bellhop/sdk";
import { printExact } from "./exact-json.ts";

/** The two dialects of a task, told apart only here. */
export function urlOf(task: { readonly targetUrl: string } | { readonly webhookUrl: string }): string {
  return "targetUrl" in task ? task.targetUrl : task.webhookUrl;
}

/** Host and the rest, for two tones. */
export function splitUrl(url: string): readonly [host: string, path: string] {
  if (!URL.canParse(url)) return [url, ""];
  const { host, pathname, search } = new URL(url);
  return [host, pathname + search];
}

/** What an error says beyond the status code, which is shown beside it; null where that is all. Many pages repeat the code. */
export function wordsOf(error: string | undefined | null): string | null {
  if (!error) return null;
  const [answered, code = "", words] = /^The target answered (\d{3})(?:: (.+))?$/s.exec(error) ?? [];
  if (answered === undefined) return error;
  return words?.replace(new RegExp(`^${code} `), "") ?? null;
}

/** The body that is sent, as text; null where there is none. */
export function bodyOf(task: Task): string | null {
  const body = "targetUrl" in task ? task.body : task.payload;
  if (body === undefined || body === null) return null;
  return typeof body === "string" && "targetUrl" in task ? body : printExact(body);
}

/** What Bellhop adds to the headers of the caller, which win. */
export function addedHeaders(task: Task, attempt: number | null): readonly (readonly [string, string])[] {
  const isSigned = !("targetUrl" in task) || task.sign === true;
  const isJson = "targetUrl" in task ? typeof task.body === "object" : true;
  const own = new Set(Object.keys(task.headers).map((name) => name.toLowerCase()));
  const added: [string, string][] = [
    ["User-Agent", "Bellhop/…"],
    ["Bellhop-Task-Id", task.id],
    ["Bellhop-Queue", task.queue],
    ["Bellhop-Attempt", attempt === null ? "1" : String(attempt)],
  ];
  if (bodyOf(task) !== null && isJson) added.push(["Content-Type", "application/json"]);
  if (isSigned) {
    added.push(
      ["webhook-id", task.id],
      ["webhook-timestamp", "when it is sent"],
      ["webhook-signature", "v1,…"],
    );
  }
  return added.filter(([name]) => !own.has(name.toLowerCase()));
}

/** A text as one word of a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The call itself, to be made by hand. */
export function curlOfCall(task: Task): string {
  const headers = Object.entries(task.headers).map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`);
  const body = bodyOf(task);
  const isJson = !("targetUrl" in task) || typeof task.body === "object";
  const type = body !== null && isJson ? [`  -H ${quote("Content-Type: application/json")}`] : [];
  const data = body === null ? [] : [`  --data-raw ${quote(body)}`];
  return [`curl -X ${task.method} ${quote(urlOf(task))}`, ...headers, ...type, ...data].join(" \\\n");
}

const RECREATED = [
  "queue",
  "priority",
  "method",
  "headers",
  "maxRetries",
  "timeout",
  "provider",
  "waitForCallback",
  "maxWait",
  "onCompleteUrl",
  "tags",
  "metadata",
] as const;

/** A task like this one, as the API takes it. */
export function likeThis(task: Task): Record<string, unknown> {
  const isDirect = "targetUrl" in task;
  const same = RECREATED.flatMap((name) => {
    const value = task[name];
    if (value === undefined || (name === "headers" && Object.keys(task.headers).length === 0)) return [];
    return [[isDirect ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]];
  });
  const target = isDirect
    ? { targetUrl: task.targetUrl, ...(task.body === undefined ? {} : { body: task.body }) }
    : { webhook_url: task.webhookUrl, payload: task.payload };
  return { ...Object.fromEntries(same), ...target };
}

/** Creates a task like this one. */
export function curlOfTask(task: Task, origin: string): string {
  return curlOfCreation(likeThis(task), origin);
}

export function curlOfCreation(body: unknown, origin: string): string {
  return [
    `curl -X POST ${origin}/v1/tasks`,
    `  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json"`,
    `  -d ${quote(printExact(body))}`,
  ].join(" \\\n");
}
