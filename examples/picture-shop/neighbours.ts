// What the shop has to do with, all in this process: a mail service, a maker of pictures, and the shop's own endpoint for notices.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { handler } from "@bellhop/sdk";

export async function openNeighbours(secret: string) {
  /** Addresses that had their mail: a task may be called more than once, and nobody wants the same mail twice. */
  const mailed = new Map<string, string>();
  /** How tasks have ended, by their ids. */
  const notices = new Map<string, string>();
  const looks = new Map<string, number>();
  let mailIsDown = false;

  // Both are signed with the team's secret. What is not, or was sent long ago, is answered 401 by `handler`.
  const mails = handler<{ to: string }>({ secret }, ({ payload, taskId }) => {
    if (mailIsDown) return new Response("The mail service is down", { status: 503 });
    mailed.set(taskId, payload.to);
    return { sent: payload.to };
  });
  const ended = handler({ secret }, ({ notification, taskId }) => {
    notices.set(taskId, notification?.type ?? "?");
  });

  /** Says at once that a picture is being made; it is there when asked for the second time, or calls back. */
  async function makePicture(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, , id] = (request.url ?? "").split("/");
    const answer = (body: object) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    if (id !== undefined) {
      const seen = (looks.get(id) ?? 0) + 1;
      looks.set(id, seen);
      answer(seen < 2 ? { status: "painting" } : { status: "done", picture: `${id}.png` });
      return;
    }
    const { callbackUrl } = JSON.parse(await text(request));
    if (callbackUrl !== undefined) void callBack(callbackUrl);
    answer({ id: randomUUID() });
  }

  async function callBack(url: string): Promise<void> {
    const headers = { "content-type": "application/json" };
    await fetch(url, { method: "POST", headers, body: JSON.stringify({ picture: "called-back.png" }) });
  }

  const server = createServer((request, response) => {
    if (request.url === "/mails") return void mails(request, response);
    if (request.url === "/ended") return void ended(request, response);
    return void makePicture(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The neighbours have no address");

  return {
    url: `http://127.0.0.1:${address.port}`,
    mailed,
    notices,
    set mailIsDown(isDown: boolean) {
      mailIsDown = isDown;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
