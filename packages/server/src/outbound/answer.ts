import type { CallResponse } from "../domain/outcome.ts";
import { cutToBytes } from "../domain/result-body.ts";
import { type DecodedContent, decodeContent } from "./content-decoding.ts";
import { ResponseBody } from "./response-body.ts";
import { readHeaders, readText } from "./response-text.ts";

/** A target's answer from its status on, while its body arrives. */
export class Answer {
  readonly statusCode: number;
  readonly firstByteMs: number;
  readonly #connectMs: number;
  readonly #headers: Record<string, string>;
  readonly #body: ResponseBody;
  readonly #maxBytes: number;

  constructor(
    statusCode: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    maxBytes: number,
    connectMs: number,
    firstByteMs: number,
  ) {
    this.firstByteMs = firstByteMs;
    this.#connectMs = connectMs;
    this.statusCode = statusCode;
    this.#headers = readHeaders(headers);
    this.#body = new ResponseBody(maxBytes);
    this.#maxBytes = maxBytes;
  }

  /** Bytes of its body so far. */
  get size(): number {
    return this.#body.length;
  }

  get isEncoded(): boolean {
    return this.#coding !== "identity" && this.size > 0;
  }

  get #coding(): string {
    return this.#headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  }

  /** Returns false when the target sends more than we read. */
  append(chunk: Buffer): boolean {
    return this.#body.append(chunk);
  }

  /** A promise only if decoding is needed: a plain answer needs no further turn of the event loop. */
  read(cut: boolean, durationMs: number): CallResponse | Promise<CallResponse> {
    const received: DecodedContent = { bytes: this.#body.bytes(), truncated: cut };
    if (!this.isEncoded) return this.#toResponse(received, durationMs);
    return decodeContent(received.bytes, this.#coding, this.#maxBytes).then((decoded) =>
      this.#toResponse(
        decoded === null ? received : { bytes: decoded.bytes, truncated: cut || decoded.truncated },
        durationMs,
      ),
    );
  }

  #toResponse({ bytes, truncated }: DecodedContent, durationMs: number): CallResponse {
    const { text, cut } = this.#fit(readText(bytes));
    return {
      kind: "response",
      statusCode: this.statusCode,
      headers: this.#headers,
      body: text,
      truncated: truncated || cut,
      connectMs: this.#connectMs,
      firstByteMs: this.firstByteMs,
      durationMs,
    };
  }

  /** Invalid UTF-8 may triple in length as text; half a character at the cut is dropped. */
  #fit(text: string): { readonly text: string; readonly cut: boolean } {
    const isShort = text.length * 3 <= this.#maxBytes || Buffer.byteLength(text) <= this.#maxBytes;
    return isShort ? { text, cut: false } : cutToBytes(text, this.#maxBytes);
  }
}
