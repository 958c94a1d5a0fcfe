/** Where finished chunks go: written in the background, in order. */
export interface ChunkWriter {
  write(chunk: string): void;
  /** Writes everything before it returns. */
  flushSync(): void;
}

/** What pino writes its lines to. It calls `flushSync` itself after a fatal one. */
export interface LogLines {
  write(line: string): void;
  flushSync(): void;
}

/** A line is written this long after it was logged at the latest. */
const LATEST_MS = 100;

/**
 * Collects lines into chunks of whole lines, at most `chunkBytes` long. The writer of pino would measure all that it has
 * collected again at every line, and begin a write every few tasks: more work than the lines themselves.
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

  // The timer keeps the process until the last line is written, unless somebody ends it.
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
