import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";

export interface DecodedContent {
  readonly bytes: Buffer;
  readonly truncated: boolean;
}

/** Output comes in pieces of this size, so a bomb is noticed after at most one piece too many. */
const CHUNK_BYTES = 65_536;

/**
 * Undoes one content coding, to at most `limit` bytes of output: decoding stops there, so a bomb costs what an
 * honest answer of that size costs. Null when the bytes are not what the coding says, or the coding is unknown;
 * several codings on top of each other count as unknown.
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

/** Flush instead of finish: an answer that was cut, by us or by a careless target, still gives what it holds. */
function createDecoder(bytes: Buffer, coding: string) {
  const zlibOptions = { chunkSize: CHUNK_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(zlibOptions);
    case "deflate":
      // Half the world sends bare deflate under this name; the zlib wrapper's first byte says which half this is.
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
