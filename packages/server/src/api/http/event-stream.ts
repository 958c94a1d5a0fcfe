import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { EventSink } from "../../domain/event-sink.ts";

/** The body of a streaming answer: written data waits until the connection accepts it. */
export function createEventBody(connection: ServerResponse): {
  readonly body: Readable;
  readonly sink: EventSink;
} {
  const waiting: (() => void)[] = [];
  const isDrained = () => body.destroyed || (body.readableLength === 0 && !connection.writableNeedDrain);
  const wake = () => {
    if (isDrained()) for (const resolve of waiting.splice(0)) resolve();
    // The body is asked for more before it has handed on what it holds. A full connection says when it has room again.
    else if (waiting.length > 0 && !connection.writableNeedDrain) setImmediate(wake);
  };
  const body = new Readable({ read: wake });
  body.once("close", wake);
  // A body that was asked for more before the connection was full is not asked again when it has room.
  connection.on("drain", wake);
  let isOver = false;
  const sink: EventSink = {
    write(text) {
      if (!isOver && !body.destroyed) body.push(text);
    },
    get waitingBytes() {
      return body.readableLength + connection.writableLength;
    },
    drained: () => (isDrained() ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    cut: () => void body.destroy(),
    end() {
      if (!isOver && !body.destroyed) body.push(null);
      isOver = true;
    },
  };
  return { body, sink };
}
