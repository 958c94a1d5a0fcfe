// AWS Lambda functions for Bellhop's calls, behind a Function URL, API Gateway or a load balancer. They need
// BELLHOP_SIGNING_SECRET, which `GET /v1/signing-secret` shows. Handlers: `receiver.resize` and `receiver.ended`.
import { handler, NoRetry } from "@bellhop/sdk/lambda";

export const resize = handler<{ image?: string }>(async ({ payload, taskId, attempt }) => {
  // Trying again would not help.
  if (payload.image === undefined) throw new NoRetry("image is missing");
  // A task may be called more than once: store taskId together with what you do.
  console.log(`resizing ${payload.image} (${taskId}, attempt ${attempt})`);
  return { resized: payload.image };
});

export const ended = handler(({ notification, taskId }) => {
  console.log(`${taskId}: ${notification?.type}`);
});
