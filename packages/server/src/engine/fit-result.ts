import type { Limits } from "../domain/limits.ts";
import { cutToBytes } from "../domain/result-body.ts";
import type { Verdict } from "../domain/verdict.ts";

/** Whether a team with this storage limit has room for these bytes. If so, they are counted as stored. */
export type HasRoom = (teamId: number, most: number, bytes: number) => boolean;

/** Bytes that are kept of an answer that does not fit, enough to recognise it. */
const LEAST_BYTES = 1_024;

/**
 * A team at its storage limit cannot create tasks. But its open tasks may be thousands, each with an answer of a
 * megabyte. Then only the beginning of each answer is kept.
 */
export function fitResult(verdict: Verdict, teamId: number, limits: Limits, hasRoom?: HasRoom): Verdict {
  const most = limits.bytesStored;
  if (most === null || hasRoom === undefined || !("result" in verdict) || verdict.result === null)
    return verdict;
  const { result } = verdict;
  if (result.body.length <= LEAST_BYTES || hasRoom(teamId, most, result.body.length)) return verdict;
  return {
    ...verdict,
    result: { ...result, body: cutToBytes(result.body, LEAST_BYTES).text, truncated: true },
  };
}
