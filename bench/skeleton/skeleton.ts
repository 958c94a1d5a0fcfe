/**
 * The bare skeleton: what any durable HTTP queue on this machine must do at least (take a request, commit it, answer,
 * make the call, commit the end), and nothing else: no keys, validation, retries or leases. Bellhop is measured against
 * it, so a change that makes it slower makes Bellhop look better: keep it lean.
 *
 * With SKELETON_CLAIMS it stores tasks as pending and claims them in batches as slots come free, which is what any queue
 * must do at least whose slots are all taken.
 */
import { randomUUID } from "node:crypto";
import { startEmbeddedPostgres } from "../../packages/server/src/postgres/embedded.ts";
import { createCaller } from "./caller.ts";
import { createClaiming, createHandOff } from "./dispatch.ts";
import { openFrontDoor } from "./front-door.ts";
import { createGroupFlush } from "./group-flush.ts";
import { createSkeletonStore, type NewTask, type SettledTask } from "./store.ts";

const concurrency = Number(process.env.SKELETON_CONCURRENCY);
const claims = process.env.SKELETON_CLAIMS === "yes";

// Large enough that a group is never the limit at 256 connections, small enough to keep one statement short.
const maxGroup = 300;

interface Accepted {
  task: NewTask;
  answer(id: string): void;
}

const postgres = await startEmbeddedPostgres({
  dataDir: process.env.SKELETON_DATA_DIR ?? "",
  log: (event, fields) => console.log(event, JSON.stringify(fields)),
});
const store = await createSkeletonStore(postgres.connection, claims ? "pending" : "active");
const caller = createCaller(concurrency);

const settle = createGroupFlush<SettledTask>((group) => store.settleTasks(group), maxGroup);
const dispatch = (claims ? createClaiming : createHandOff)({
  concurrency,
  claim: (limit) => store.claimTasks(limit),
  call: (task, onEnd) =>
    caller.call(task.url, task.payload, (code) => {
      settle({ id: task.id, code });
      onEnd();
    }),
});

const accept = createGroupFlush<Accepted>(async (group) => {
  await store.insertTasks(group.map((accepted) => accepted.task));
  for (const { task, answer } of group) {
    answer(task.id);
    dispatch(task);
  }
}, maxGroup);

/** A version 7 UUID, in time order as Bellhop's are, so that both load the primary key in the same way. */
function createId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

openFrontDoor({
  name: "Skeleton",
  accept: ({ url, payload }, answer) => accept({ task: { id: createId(), url, payload }, answer }),
  async stop() {
    await caller.stop();
    await store.stop();
    await postgres.stop();
  },
});
