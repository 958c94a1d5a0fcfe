import { fromEnvironment } from "./environment.ts";
import { receiveFetch } from "./fetch-adapter.ts";
import { createReceiver, type HandlerArgs } from "./receiver.ts";

export { type HandlerOptions, NoRetry, type Notification, type ReceivedCall } from "./receiver.ts";

/** A route handler of the App Router: `export const POST = handler(async ({ payload }) => …)`. */
export function handler<Payload = unknown>(
  ...args: HandlerArgs<Payload>
): (request: Request) => Promise<Response> {
  // `next build` loads the module too, where the secret need not be: then the first request makes it.
  const isBuild = fromEnvironment("NEXT_PHASE") === "phase-production-build";
  let receive = isBuild ? null : createReceiver(args);
  return async (request) => {
    receive ??= createReceiver(args);
    return receiveFetch(receive, request);
  };
}
