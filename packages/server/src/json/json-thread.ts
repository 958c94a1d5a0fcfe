/* A thread of the pool (pool.ts): parses one untrusted text after the other. */
import { parentPort } from "node:worker_threads";
import { type Job, runJob } from "./job.ts";
import { giveWay } from "./thread-priority.ts";

const port = parentPort;
if (port === null) throw new Error("This is a thread of Bellhop's, not a program");

giveWay();
port.on("message", (job: Job) => port.postMessage(runJob(job)));
