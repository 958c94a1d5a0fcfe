/*
 * The thread that puts events into words, so that a busy node's own thread need not: see compose-event-serializer.ts. It has one
 * connection to the database and knows nothing of streams.
 */
import { parentPort, workerData } from "node:worker_threads";
import { SERVER_SENT } from "./api/tasks/event-view.ts";
import type { Asked, Said } from "./compose-event-serializer.ts";
import { giveWay } from "./json/thread-priority.ts";
import { createDatabase } from "./postgres/database.ts";
import { createPool } from "./postgres/pool.ts";
import { createEventSerializer } from "./service/tasks/event-serializer.ts";

const port = parentPort;
if (port === null) throw new Error("This is a thread of Bellhop's, not a program");

// To tell of what is done gives way to doing it: three times what it needs is left.
giveWay();

const pool = createPool(workerData, { max: 1, applicationName: "bellhop-events", onError: () => {} });
const serializer = createEventSerializer(createDatabase(pool), SERVER_SENT);
const encoder = new TextEncoder();

port.on("message", async ({ number, questions }: Asked) => {
  try {
    const answers = (await serializer.look(questions)).map(({ texts, ...rest }) => ({
      ...rest,
      texts: texts.map((text) => encoder.encode(text)),
    }));
    const said: Said = { number, answers };
    // Handed over, not copied.
    port.postMessage(
      said,
      answers.flatMap(({ texts }) => texts.map(({ buffer }) => buffer)),
    );
  } catch (error) {
    // The next look asks again: all there is to know is that this one failed.
    const said: Said = { number, failed: error instanceof Error ? error.message : String(error) };
    port.postMessage(said);
  }
});
