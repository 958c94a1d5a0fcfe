// Endpoints for Bellhop's calls in a Hono application, here on Node. Needs BELLHOP_SIGNING_SECRET, which
// `GET /v1/signing-secret` shows.
import { handler, NoRetry } from "@bellhop/sdk/hono";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const app = new Hono();

app.post(
  "/tasks/resize",
  handler<{ image?: string }>(async ({ payload, taskId, attempt }) => {
    // Trying again would not help.
    if (payload.image === undefined) throw new NoRetry("image is missing");
    // A task may be called more than once: store taskId together with what you do.
    console.log(`resizing ${payload.image} (${taskId}, attempt ${attempt})`);
    return { resized: payload.image };
  }),
);
app.post(
  "/tasks/ended",
  handler(({ notification, taskId }) => {
    console.log(`${taskId}: ${notification?.type}`);
  }),
);

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: "127.0.0.1" }, (address) => {
  console.log("listening at", address);
});
