import { receiveFetch } from "./fetch-adapter.ts";
import { createReceiver, type HandlerArgs } from "./receiver.ts";

export { type HandlerOptions, NoRetry, type Notification, type ReceivedCall } from "./receiver.ts";

/** What is used of Hono's context. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
}

/** A route's handler: `app.post("/tasks/resize", handler(async ({ payload }) => …))`. */
export function handler<Payload = unknown>(
  ...args: HandlerArgs<Payload>
): (context: HonoContext) => Promise<Response> {
  const receive = createReceiver(args);
  return ({ req }) => receiveFetch(receive, req.raw);
}
