import { createServer, type IncomingHttpHeaders } from "node:http";
import { Webhook } from "standardwebhooks";
import { parseTaskId } from "../../packages/server/src/domain/task-id.ts";
import type { Delivery } from "../checker/history.ts";
import { now } from "./clock.ts";
import { noncesOf, parse, stateOf } from "./nonces.ts";
import { isRecord } from "./task-requests.ts";

export interface WebhookReceiver {
  /** Whatever follows it is told of each delivery as its `path`. */
  readonly url: string;
  readonly received: readonly (Delivery & { readonly path: string })[];
  stop(): Promise<void>;
}

/** Takes what a webhook sends and checks its signature. Every sixteenth delivery is refused once, and has to come again. */
export async function startReceiver(secret: string): Promise<WebhookReceiver> {
  const verifier = new Webhook(secret);
  const received: (Delivery & { readonly path: string })[] = [];
  const refused = new Set<string>();

  function receive(path: string, text: string, headers: IncomingHttpHeaders): number {
    const id = String(headers["webhook-id"]);
    const status = id.endsWith("7") && !refused.has(id) ? 503 : 200;
    refused.add(id);
    const signed = isSigned(verifier, text, headers);
    received.push({ path, at: now(), id, signed, status, ...readDelivery(text) });
    return status;
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let text = "";
    request.on("error", () => {});
    response.on("error", () => {});
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      text += chunk;
    });
    // Only what came whole: a process that was killed in the middle comes again.
    request.on("end", () => {
      if (!request.complete) return;
      response.statusCode = receive(request.url ?? "", text, request.headers);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    received,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** What the body of a delivery says. */
export function readDelivery(
  text: string,
): Pick<Delivery, "type" | "taskId" | "state" | "happenedAt" | "nonces"> {
  const body = parse(text);
  if (!isRecord(body)) return { type: "", taskId: null, happenedAt: Number.NaN, nonces: [] };
  const task = isRecord(body.data) ? body.data.task : null;
  const taskId = isRecord(task) ? String(task.id) : null;
  return {
    type: String(body.type),
    taskId: taskId === null ? null : (parseTaskId(taskId) ?? taskId),
    happenedAt: Date.parse(String(body.timestamp)),
    ...stateOf(task),
    nonces: noncesOf(task),
  };
}

function isSigned(verifier: Webhook, text: string, headers: IncomingHttpHeaders): boolean {
  try {
    verifier.verify(text, {
      "webhook-id": String(headers["webhook-id"]),
      "webhook-timestamp": String(headers["webhook-timestamp"]),
      "webhook-signature": String(headers["webhook-signature"]),
    });
    return true;
  } catch {
    return false;
  }
}
