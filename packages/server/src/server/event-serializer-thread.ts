/*
 * The event serializer thread, which takes work off the main thread: see compose-event-serializer.ts. It has one
 * connection to the database and does not know the streams.
 */
import { parentPort, workerData } from "node:worker_threads";
import { SERVER_SENT } from "../api/tasks/event-view.ts";
import { giveWay } from "../json/thread-priority.ts";
import { createDatabase } from "../postgres/database.ts";
import { createPool } from "../postgres/pool.ts";
import { createEventSerializer } from "../service/tasks/event-serializer.ts";
import type { Asked, Said } from "./compose-event-serializer.ts";

const port = parentPort;
if (port === null) throw new Error("This is a thread of Bellhop's, not a program");

// Serializing events has a lower priority than executing tasks; it still gets three times the CPU that it needs.
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
    // Transferred, not copied.
    port.postMessage(
      said,
      answers.flatMap(({ texts }) => texts.map(({ buffer }) => buffer)),
    );
  } catch (error) {
    // The next read tries again; only the failure matters here.
    const said: Said = { number, failed: error instanceof Error ? error.message : String(error) };
    port.postMessage(said);
  }
});
