import type { Socket } from "node:net";
import { LARGE_ANSWER_BYTES } from "./large-answers.ts";

/** As much again as the largest answer that is read: what stands around its parts is hardly ever more than they are. */
export const MAX_WIRE_BYTES = 2 * LARGE_ANSWER_BYTES;

/** Before the answer itself; 103 is the only usual one, and comes once or twice. */
export const MAX_INTERIM_ANSWERS = 16;

/** The target sent more than any answer needs. */
export class WireOverflow extends Error {}

/**
 * Ends a connection that has sent too much for one exchange, in whatever part of it. Headers and body have limits of their
 * own; a reason phrase, the extensions of chunks and interim answers are none of either, and would be read until the
 * deadline.
 *
 * An exchange begins with what we write: that there is more of it since the last bytes came is how we know.
 */
export function limitWire(socket: Socket, limit = MAX_WIRE_BYTES): void {
  let written = socket.bytesWritten;
  let lastRead = socket.bytesRead;
  let begunAt = lastRead;
  socket.on("readable", () => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      begunAt = lastRead;
    }
    lastRead = socket.bytesRead;
    if (lastRead - begunAt > limit) socket.destroy(new WireOverflow());
  });
}
