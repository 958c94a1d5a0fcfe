// Endpoints for Bellhop's calls in an Express application. Needs BELLHOP_SIGNING_SECRET, which `GET /v1/signing-secret` shows.
import { handler, NoRetry } from "@bellhop/sdk/express";
import express from "express";

const app = express();

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
// After them: the signature is over the bytes as they were sent.
app.use(express.json());

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log("listening at", server.address());
});
