// An endpoint for Bellhop's calls in an Express application:
//
//   import express from "express";
//   const app = express();
//   receiveTasks(app, process.env.BELLHOP_SIGNING_SECRET ?? "");
//   app.use(express.json());          // after it: the signature is over the bytes as they were sent
//   app.listen(3000);
import { type Handler, handler, NoRetry } from "@bellhop/sdk";

/** As much of an Express application as is used here. */
export interface Application {
  post(path: string, handle: Handler): unknown;
}

export function receiveTasks(app: Application, secret: string): void {
  app.post(
    "/tasks/resize",
    handler<{ image?: string }>({ secret }, async ({ payload, taskId, attempt }) => {
      // Trying again would not help.
      if (payload.image === undefined) throw new NoRetry("image is missing");
      // A task may be called more than once: store taskId together with what you do.
      console.log(`resizing ${payload.image} (${taskId}, attempt ${attempt})`);
      return { resized: payload.image };
    }),
  );
  app.post(
    "/tasks/ended",
    handler({ secret }, ({ notification, taskId }) => {
      console.log(`${taskId}: ${notification?.type}`);
    }),
  );
}
