/**
 * The bare skeleton: what any durable HTTP queue on this machine must do at least (take a request, commit it, answer,
 * make the call, commit the end), and nothing else: no keys, validation, retries or leases. Bellhop is measured against
 * it, so a change that makes it slower makes Bellhop look better: keep it lean.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { startEmbeddedPostgres } from "../packages/server/src/postgres/embedded.ts";
import { createGroupFlush } from "./group-flush.ts";
import { createSkeletonCaller } from "./skeleton-caller.ts";
import { createSkeletonStore, type NewTask, type SettledTask } from "./skeleton-store.ts";

const dataDir = process.env.SKELETON_DATA_DIR ?? "";
const port = Number(process.env.PORT);
const concurrency = Number(process.env.SKELETON_CONCURRENCY);

// Large enough that a group is never the limit at 256 connections, small enough to keep one statement short.
const maxGroup = 300;

interface Accepted {
  task: NewTask;
  response: ServerResponse;
}

const postgres = await startEmbeddedPostgres({
  dataDir,
  log: (event, fields) => console.log(event, JSON.stringify(fields)),
});
const store = await createSkeletonStore(postgres.connection);

const settle = createGroupFlush<SettledTask>((group) => store.settleTasks(group), maxGroup);
const caller = createSkeletonCaller(concurrency, (task, code) => settle({ id: task.id, code }));

const accept = createGroupFlush<Accepted>(async (group) => {
  await store.insertTasks(group.map((accepted) => accepted.task));
  for (const { task, response } of group) {
    const body = JSON.stringify({ id: task.id, status: "active" });
    response.writeHead(201, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    });
    response.end(body);
    caller.call(task);
  }
}, maxGroup);

/** A version 7 UUID, in time order as Bellhop's are, so that both load the primary key in the same way. */
function createId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { webhook_url: string; payload: unknown };
    accept({ task: { id: createId(), url: body.webhook_url, payload: body.payload }, response });
  });
}

const server = createServer(receive);
server.keepAliveTimeout = 60_000;
server.listen(port, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the skeleton has no port");
  console.log(`Skeleton is ready at http://127.0.0.1:${address.port}`);
});

async function stop(): Promise<void> {
  server.close();
  server.closeAllConnections();
  await caller.stop();
  await store.stop();
  await postgres.stop();
  process.exit(0);
}
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
