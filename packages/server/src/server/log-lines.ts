/** Writes finished chunks in the background, in order. */
export interface ChunkWriter {
  write(chunk: string): void;
  /** Writes everything before it returns, except for a chunk whose write is under way. */
  flushSync(): void;
  /** Calls the listener when no write is left. */
  once?(event: "drain", listener: () => void): unknown;
}

/** The destination of pino's lines. Pino calls `flushSync` after a fatal line. */
export interface LogLines {
  write(line: string): void;
  flushSync(): void;
  /** Resolves once every line is written, in order. */
  drained(): Promise<void>;
}

/** The maximum delay of a line. */
const LATEST_MS = 100;

/**
 * Collects lines into chunks of at most `chunkBytes`. Pino's own writer would measure the collected text again at every
 * line and start a write every few tasks: more work than the lines themselves.
 */
export function createLogLines(writer: ChunkWriter, chunkBytes: number): LogLines {
  let lines: string[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isWriting = false;

  function handOver(): void {
    if (lines.length === 0) return;
    const chunk = lines.join("");
    lines = [];
    bytes = 0;
    if (!isWriting && writer.once !== undefined) {
      isWriting = true;
      writer.once("drain", () => {
        isWriting = false;
      });
    }
    writer.write(chunk);
  }

  function flushSync(): void {
    clearTimeout(timer);
    timer = undefined;
    handOver();
    writer.flushSync();
  }

  // The timer keeps the process alive until the last line is written, unless it is killed.
  process.on("exit", () => {
    if (lines.length > 0) flushSync();
  });

  return {
    write(line) {
      const size = Buffer.byteLength(line);
      if (bytes + size > chunkBytes) handOver();
      lines.push(line);
      bytes += size;
      timer ??= setTimeout(() => {
        timer = undefined;
        handOver();
      }, LATEST_MS);
    },
    flushSync,
    async drained() {
      handOver();
      if (isWriting) await new Promise<void>((resolve) => writer.once?.("drain", resolve));
    },
  };
}
