// A route handler of Next.js that receives a task: `POST /api/welcome` is its `webhookUrl`. It needs BELLHOP_SIGNING_SECRET,
// which `GET /v1/signing-secret` shows. The body must come as it was sent: the handler reads and verifies it itself.
import { handler, NoRetry } from "@bellhop/sdk";

/** A task's call is never answered from a cache. */
export const dynamic = "force-dynamic";

interface Welcome {
  readonly user?: number;
}

const receive = handler<Welcome>(
  { secret: process.env.BELLHOP_SIGNING_SECRET ?? "" },
  async ({ payload, taskId, attempt }) => {
    // Trying again would not help.
    if (payload.user === undefined) throw new NoRetry("user is missing");
    // A task may be called more than once: store taskId together with what you do.
    console.log(`welcome, user ${payload.user} (${taskId}, attempt ${attempt})`);
    return { welcomed: payload.user };
  },
);

export const POST = (request: Request): Promise<Response> => receive(request);
