import type { Claim } from "./claim.ts";

/** The headers that Bellhop adds to an attempt's call, to identify it. */
export function ownHeaders(claim: Claim, publicId: string): Record<string, string> {
  const headers: Record<string, string> = {
    "bellhop-task-id": publicId,
    "bellhop-queue": claim.queue,
    "bellhop-attempt": String(claim.attempt),
  };
  if (claim.scheduledFor !== null) headers["bellhop-scheduled-for"] = claim.scheduledFor.toISOString();
  const isJson = claim.shape === "queue" ? claim.call.body !== null : claim.bodyIsJson;
  if (isJson) headers["content-type"] = "application/json";
  return headers;
}
