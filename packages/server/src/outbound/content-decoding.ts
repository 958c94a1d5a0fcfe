import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";

export interface DecodedContent {
  readonly bytes: Buffer;
  readonly truncated: boolean;
}

/** Output comes in chunks of this size, so a decompression bomb is detected after at most one extra chunk. */
const CHUNK_BYTES = 65_536;

/**
 * Decodes one content coding up to `limit` bytes, so a decompression bomb costs no more than an honest answer of that
 * size. Null if the bytes are invalid or the coding is unknown; stacked codings count as unknown.
 */
export function decodeContent(bytes: Buffer, coding: string, limit: number): Promise<DecodedContent | null> {
  const decoder = createDecoder(bytes, coding);
  if (decoder === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let length = 0;
    decoder.on("data", (piece: Buffer) => {
      const room = limit - length;
      pieces.push(piece.length > room ? piece.subarray(0, room) : piece);
      length += piece.length;
      if (length <= limit) return;
      decoder.destroy();
      resolve({ bytes: Buffer.concat(pieces), truncated: true });
    });
    decoder.on("end", () => resolve({ bytes: Buffer.concat(pieces), truncated: false }));
    decoder.on("error", () => resolve(null));
    decoder.end(bytes);
  });
}

/** Flush instead of finish: a truncated answer still yields its content. */
function createDecoder(bytes: Buffer, coding: string) {
  const zlibOptions = { chunkSize: CHUNK_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(zlibOptions);
    case "deflate":
      // Many servers send raw deflate under this name; the first byte of the zlib wrapper tells.
      return ((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate(zlibOptions) : createInflateRaw(zlibOptions);
    case "br":
      return createBrotliDecompress({
        chunkSize: CHUNK_BYTES,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      });
    default:
      return null;
  }
}
