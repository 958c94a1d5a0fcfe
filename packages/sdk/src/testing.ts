import { signWebhook } from "./webhook.ts";

export interface TestCall {
  /** The one that the handler was made with; by default `BELLHOP_SIGNING_SECRET`. */
  readonly secret?: string | undefined;
  /** As a task would have it; `{}` by default. */
  readonly payload?: unknown;
  readonly taskId?: string;
  readonly attempt?: number;
  readonly queue?: string;
  readonly sentAt?: Date;
}

/** A request as Bellhop sends it for a queue task, for a handler or `fetch`. */
export async function signedRequest(url: string, call: TestCall = {}): Promise<Request> {
  const { payload = {}, taskId = "task_00000000000000000000000000", sentAt = new Date() } = call;
  const body = JSON.stringify(payload);
  return new Request(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "bellhop-task-id": taskId,
      "bellhop-queue": call.queue ?? "default",
      "bellhop-attempt": String(call.attempt ?? 1),
      ...(await signWebhook({ id: taskId, body, secret: call.secret, now: sentAt })),
    },
    body,
  });
}
