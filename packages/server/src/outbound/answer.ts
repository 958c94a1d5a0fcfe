import type { CallResponse } from "../domain/outcome.ts";
import { type DecodedContent, decodeContent } from "./content-decoding.ts";
import { ResponseBody } from "./response-body.ts";
import { readHeaders, readText } from "./response-text.ts";

/** A target's answer from its status on, while its body comes in. */
export class Answer {
  readonly statusCode: number;
  readonly #headers: Record<string, string>;
  readonly #body: ResponseBody;
  readonly #maxBytes: number;

  constructor(
    statusCode: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    maxBytes: number,
  ) {
    this.statusCode = statusCode;
    this.#headers = readHeaders(headers);
    this.#body = new ResponseBody(maxBytes);
    this.#maxBytes = maxBytes;
  }

  /** Returns false when the target sends more than we read. */
  append(chunk: Buffer): boolean {
    return this.#body.append(chunk);
  }

  /** A promise only where there is something to decode: the plain answer needs no further turn of the loop. */
  read(cut: boolean, durationMs: number): CallResponse | Promise<CallResponse> {
    const received: DecodedContent = { bytes: this.#body.bytes(), truncated: cut };
    const coding = this.#headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (coding === "identity" || received.bytes.length === 0) return this.#toResponse(received, durationMs);
    return decodeContent(received.bytes, coding, this.#maxBytes).then((decoded) =>
      this.#toResponse(
        decoded === null ? received : { bytes: decoded.bytes, truncated: cut || decoded.truncated },
        durationMs,
      ),
    );
  }

  #toResponse({ bytes, truncated }: DecodedContent, durationMs: number): CallResponse {
    return {
      kind: "response",
      statusCode: this.statusCode,
      headers: this.#headers,
      body: readText(bytes),
      truncated,
      durationMs,
    };
  }
}
