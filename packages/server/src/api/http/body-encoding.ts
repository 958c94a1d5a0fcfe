import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { preParsingHookHandler, RequestPayload } from "fastify";
import { Problem } from "../../domain/problem.ts";

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;
type Coding = keyof typeof DECODERS;

/**
 * Decodes compressed bodies. The danger is a kilobyte that becomes a gigabyte: it is decoded in small chunks, and only
 * up to the body limit.
 */
export const decodeBody: preParsingHookHandler = (request, reply, payload, done) => {
  const { "content-encoding": sent } = request.headers;
  const coding = sent?.trim().toLowerCase() || "identity";
  if (coding === "identity" || !hasBody(request.headers)) {
    done(null, payload);
    return;
  }
  if (!isCoding(coding)) {
    reply.header("accept-encoding", "gzip, deflate, br");
    done(new Problem("body_coding_unknown"));
    return;
  }
  done(null, createDecodedPayload(payload, coding, request.routeOptions.bodyLimit));
};

/** Lazy: a body that its route does not read is never decoded. */
function createDecodedPayload(payload: RequestPayload, coding: Coding, limitBytes: number): RequestPayload {
  let receivedBytes = 0;
  let decodedBytes = 0;

  async function* decode(): AsyncGenerator<Buffer> {
    const decoder = DECODERS[coding]();
    payload.on("data", (chunk: Buffer) => {
      receivedBytes += chunk.length;
    });
    payload.once("error", (error) => decoder.destroy(error));
    payload.pipe(decoder);
    try {
      for await (const chunk of decoder) {
        decodedBytes += chunk.length;
        if (decodedBytes > limitBytes) throw new Problem("body_too_large");
        yield chunk;
      }
    } catch (error) {
      if (error instanceof Problem || error === payload.errored) throw error;
      throw new Problem("body_not_decoded", { coding }, { cause: error });
    } finally {
      // Discards the rest, so that the client can read the answer.
      payload.unpipe(decoder);
      payload.resume();
    }
  }

  const decoded = Readable.from(decode(), { objectMode: false });
  // A reader with a lower limit stops there; a later error must not crash the process.
  decoded.on("error", () => {});
  return Object.defineProperty(decoded, "receivedEncodedLength", { get: () => receivedBytes });
}

function isCoding(text: string): text is Coding {
  return Object.hasOwn(DECODERS, text);
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
