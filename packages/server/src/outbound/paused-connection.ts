import type { Socket } from "node:net";

/** As much as is used of undici's parser of answers. */
interface Parser {
  paused: boolean;
  readonly ptr: unknown;
  readonly llhttp: { llhttp_resume(ptr: unknown): void };
  /** Reads on. Does nothing once the socket is destroyed. */
  resume(): void;
}

/**
 * A large answer pauses its connection while it waits for its turn. If the target ends the connection meanwhile, undici 7
 * throws an error that no caller can catch, and that would stop the server (nodejs/undici#5360, fixed in undici 8, which
 * needs Node 22). So the pause ends first: what is left to read is at most the part that has already arrived.
 *
 * Called before undici has the socket, because listeners run in the order in which they were added.
 */
export function endPauseWithConnection(socket: Socket): void {
  const endPause = () => {
    const parser = parserOf(socket);
    if (parser?.paused !== true) return;
    parser.resume();
    // Of a destroyed socket, or of a body that ends with its connection: reading nothing has paused it again.
    if (parser.paused) parser.llhttp.llhttp_resume(parser.ptr);
    parser.paused = false;
  };
  for (const event of ["end", "error", "close"]) socket.on(event, endPause);
}

/** Undici keeps it at the socket under a symbol of its own. */
function parserOf(socket: Socket): Parser | undefined {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "parser");
  return key === undefined ? undefined : Reflect.get(socket, key);
}
