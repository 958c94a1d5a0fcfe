import type { Socket } from "node:net";

/** The part of undici's parser of answers that this file uses. */
interface Parser {
  paused: boolean;
  readonly ptr: unknown;
  readonly llhttp: { llhttp_resume(ptr: unknown): void };
  /** The parser continues to read. If the socket is destroyed, this call does nothing. */
  resume(): void;
}

/**
 * A large answer pauses its connection while it waits for its turn. If the target ends the connection meanwhile, undici 7
 * throws an error that no caller can catch, and that would stop the server (nodejs/undici#5360, fixed in undici 8, which
 * needs Node 22). So the pause ends first: the parser then reads at most the part that has already arrived.
 *
 * The caller must call this before undici has the socket, because listeners run in the order in which they were added.
 */
export function endPauseWithConnection(socket: Socket): void {
  const endPause = () => {
    const parser = parserOf(socket);
    if (parser?.paused !== true) return;
    parser.resume();
    // If the socket is destroyed, or the body ends with its connection, the parser read nothing and paused again.
    if (parser.paused) parser.llhttp.llhttp_resume(parser.ptr);
    parser.paused = false;
  };
  for (const event of ["end", "error", "close"]) socket.on(event, endPause);
}

/** Undici keeps the parser in a property of the socket, under its own symbol. */
function parserOf(socket: Socket): Parser | undefined {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "parser");
  return key === undefined ? undefined : Reflect.get(socket, key);
}
