import { type NodeRequest, type NodeResponse, receiveNode } from "./node-adapter.ts";
import { createReceiver, type HandlerArgs } from "./receiver.ts";

export type { NodeRequest, NodeResponse } from "./node-adapter.ts";
export { type HandlerOptions, NoRetry, type Notification, type ReceivedCall } from "./receiver.ts";

/** A route's handler: `app.post("/tasks/resize", handler(async ({ payload }) => …))`, before `express.json()`. */
export function handler<Payload = unknown>(
  ...args: HandlerArgs<Payload>
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const receive = createReceiver(args);
  return (request, response) => receiveNode(receive, request, response);
}
