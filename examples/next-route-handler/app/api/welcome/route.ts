// A route handler of Next.js that receives a task: `POST /api/welcome` is its `webhookUrl`. It needs BELLHOP_SIGNING_SECRET
// when it runs, not when it is built; `GET /v1/signing-secret` shows it.
import { handler, NoRetry } from "@bellhop/sdk/next";

/** A task's call is never answered from a cache. */
export const dynamic = "force-dynamic";

export const POST = handler<{ user?: number }>(async ({ payload, taskId, attempt }) => {
  // Trying again would not help.
  if (payload.user === undefined) throw new NoRetry("user is missing");
  // A task may be called more than once: store taskId together with what you do.
  console.log(`welcome, user ${payload.user} (${taskId}, attempt ${attempt})`);
  return { welcomed: payload.user };
});
