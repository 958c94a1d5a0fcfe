/**
 * The front door of the skeleton and of every peer that has none of its own: one bare node:http server that takes
 * `{ webhook_url, payload }` and answers 201 once `accept` says that the task is stored. All of them pay the same for it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export interface Submission {
  url: string;
  payload: unknown;
}

export interface FrontDoor {
  /** As it stands in "… is ready at", which the bench waits for. */
  name: string;
  /** Calls `answer` when the task is durable; null if it could not be stored. */
  accept(submission: Submission, answer: (id: string | null) => void): void;
  stop(): Promise<void>;
}

export function openFrontDoor({ name, accept, stop }: FrontDoor): void {
  function receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { webhook_url: string; payload: unknown };
      accept({ url: body.webhook_url, payload: body.payload }, (id) => {
        const answer = JSON.stringify({ id, status: "active" });
        response.writeHead(id === null ? 500 : 201, {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(answer),
        });
        response.end(answer);
      });
    });
  }

  const server = createServer(receive);
  server.keepAliveTimeout = 60_000;
  server.listen(Number(process.env.PORT), "127.0.0.1", () => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error(`${name} has no port`);
    console.log(`${name} is ready at http://127.0.0.1:${address.port}`);
  });

  let closing = false;
  async function close(): Promise<void> {
    if (closing) return;
    closing = true;
    server.close();
    server.closeAllConnections();
    await stop();
    process.exit(0);
  }
  // Not once: the second of two signals would end the process before its database is stopped.
  process.on("SIGTERM", () => void close());
  process.on("SIGINT", () => void close());
}
