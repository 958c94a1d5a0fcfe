import type { CallFailure, CallResponse, FailureCode } from "../../src/domain/outcome.ts";
import type { PollConfig } from "../../src/domain/poll/poll-config.ts";

export function ownConfig(changes: Partial<PollConfig> = {}): PollConfig {
  return {
    urlTemplate: "https://api.example.com/jobs/{startResult.body.id}",
    interval: 5,
    statusPath: "status",
    doneValues: ["done"],
    failValues: ["failed", "gone"],
    resultPath: "output",
    forwardAuth: true,
    maxDuration: 600,
    ...changes,
  };
}

/** A string is the body as it is, anything else as JSON. */
export function answer(statusCode: number, body: unknown, changes: Partial<CallResponse> = {}): CallResponse {
  return {
    kind: "response",
    statusCode,
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    truncated: false,
    durationMs: 12,
    ...changes,
  };
}

export function failure(code: FailureCode): CallFailure {
  return {
    kind: "failure",
    code,
    message: `It was ${code}`,
    phase: "sent",
    statusCode: null,
    durationMs: 12,
  };
}
