/** Writes finished chunks in the background, in order. */
export interface ChunkWriter {
  write(chunk: string): void;
  /** Writes everything before it returns. */
  flushSync(): void;
}

/** The destination of pino's lines. Pino calls `flushSync` after a fatal line. */
export interface LogLines {
  write(line: string): void;
  flushSync(): void;
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

  function handOver(): void {
    if (lines.length === 0) return;
    const chunk = lines.join("");
    lines = [];
    bytes = 0;
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
  };
}
