import { errors } from "undici";
import type { FailureCode, Phase } from "../domain/outcome.ts";
import { ConnectFailure } from "./connect-failure.ts";
import { readErrorCode } from "./error-code.ts";
import { WireOverflow } from "./wire-limit.ts";

export interface NetworkFailure {
  readonly code: FailureCode;
  readonly message: string;
}

/** The progress of a call when it failed. */
export interface Progress {
  readonly phase: Phase;
  /** Bytes of an answer arrived, but not a complete final status and headers. */
  readonly answerBegan: boolean;
}

export const STOPPED: NetworkFailure = {
  code: "aborted",
  message: "Bellhop stopped the call before it was answered",
};

export const MAX_HEADER_BYTES = 16_384;

const INVALID_REQUEST: NetworkFailure = {
  code: "invalid_request",
  message: "The request could not be sent: its URL or one of its headers is not valid in HTTP",
};

const INVALID_RESPONSE: NetworkFailure = {
  code: "invalid_response",
  message: "The target sent an answer that could not be read as HTTP",
};

const HEADERS_TOO_LARGE: NetworkFailure = {
  code: "invalid_response",
  message: `The target sent more than ${MAX_HEADER_BYTES / 1024} KiB of headers`,
};

/** Excessive data in a reason phrase, chunk extensions or interim answers. */
export const TOO_MUCH: NetworkFailure = {
  code: "invalid_response",
  message: "The target sent far more than its answer",
};

const TLS_BROKE: NetworkFailure = { code: "tls_error", message: "The TLS connection to the target broke" };

export function describeDeadline(phase: Phase, timeoutMs: number): NetworkFailure {
  const limit = `within ${timeoutMs / 1000} s`;
  switch (phase) {
    case "not_sent":
      return { code: "timeout", message: `No connection to the target ${limit}` };
    case "sent":
      return { code: "timeout", message: `The target did not answer ${limit}` };
    case "responded":
      return { code: "timeout", message: `The target did not finish its answer ${limit}` };
  }
}

export function describeError(error: unknown, progress: Progress): NetworkFailure {
  if (error instanceof ConnectFailure) return { code: error.failure, message: error.message };
  if (error instanceof WireOverflow) return TOO_MUCH;
  if (error instanceof errors.HTTPParserError) return INVALID_RESPONSE;
  const code = readErrorCode(error);
  switch (code) {
    case "UND_ERR_INVALID_ARG":
    case "UND_ERR_NOT_SUPPORTED":
    case "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH":
      return INVALID_REQUEST;
    case "UND_ERR_DESTROYED":
    case "UND_ERR_CLOSED":
    case "UND_ERR_ABORTED":
      return STOPPED;
    case "UND_ERR_HEADERS_OVERFLOW":
      return HEADERS_TOO_LARGE;
    case "UND_ERR_SOCKET":
      // Undici's own verdict on an unwanted 100 or 101, and on headers that end halfway.
      return progress.answerBegan ? INVALID_RESPONSE : describeReset(progress.phase);
    case "UND_ERR_RES_CONTENT_LENGTH_MISMATCH":
      // Also undici's word for headers it could not parse, once they held a length.
      return progress.phase === "responded" ? describeReset(progress.phase) : INVALID_RESPONSE;
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) return TLS_BROKE;
  return describeReset(progress.phase);
}

function describeReset(phase: Phase): NetworkFailure {
  switch (phase) {
    case "not_sent":
      return { code: "connection_reset", message: "The connection closed before the call was sent" };
    case "sent":
      return { code: "connection_reset", message: "The target closed the connection before it answered" };
    case "responded":
      return {
        code: "connection_reset",
        message: "The target closed the connection before its answer was complete",
      };
  }
}
