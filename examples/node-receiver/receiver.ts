// An endpoint for Bellhop's calls on Node's own server: `POST /welcome` is a queue task's `webhookUrl`, `POST /done` an
// `onCompleteUrl`. Needs BELLHOP_SIGNING_SECRET, which `GET /v1/signing-secret` shows.
import { createServer } from "node:http";
import { handler, NoRetry } from "@bellhop/sdk";

/** A task may be called more than once; in a real service this is a table with a unique key. */
const welcomed = new Set<string>();

const welcome = handler<{ user?: number }>(async ({ payload, taskId, attempt }) => {
  // Trying again would not help.
  if (payload.user === undefined) throw new NoRetry("user is missing");
  if (!welcomed.has(taskId)) console.log(`welcome, user ${payload.user} (attempt ${attempt})`);
  welcomed.add(taskId);
  return { welcomed: payload.user };
});

const done = handler(({ notification, taskId }) => {
  console.log(taskId, notification?.type);
});

const server = createServer((request, response) => {
  if (request.url === "/welcome") return void welcome(request, response);
  if (request.url === "/done") return void done(request, response);
  response.writeHead(404).end();
}).listen(Number(process.env.PORT ?? 9000), "127.0.0.1", () => {
  console.log("listening at", server.address());
});
