import { isRecord } from "./task-requests.ts";

/** The nonce that the URL of a task carries; empty where it carries none. */
export function nonceIn(url: unknown): string {
  if (typeof url !== "string" || !URL.canParse(url, "http://target")) return "";
  return new URL(url, "http://target").searchParams.get("nonce") ?? "";
}

/** The nonce that the body of a call carries: of a queue task in an object, of a direct one the text itself. */
export function nonceOf(payload: unknown): string {
  if (typeof payload === "string") return payload;
  return isRecord(payload) && typeof payload.nonce === "string" ? payload.nonce : "";
}

/** Of a task as the API shows it: in a list and in events by its URL alone, in its own record by its payload as well. */
export function noncesOf(task: unknown): string[] {
  if (!isRecord(task)) return [];
  const url = task.webhook_url ?? task.targetUrl;
  // Of a task that was deleted since, an event has little more than the id.
  if (url === undefined) return [];
  const payload = task.payload ?? task.body;
  return payload === undefined ? [nonceIn(url)] : [nonceIn(url), nonceOf(payload)];
}

/** The status of a task as the API shows it. */
export function stateOf(task: unknown): { state?: string } {
  return isRecord(task) && typeof task.status === "string" ? { state: task.status } : {};
}

/** The value in a result: what a target, a poll or a callback answered; null where there is none. */
export function resultValue(task: unknown): string | null {
  if (!isRecord(task) || !isRecord(task.result)) return null;
  const body = parse(String(task.result.body));
  return isRecord(body) && typeof body.value === "string" ? body.value : "unreadable";
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
