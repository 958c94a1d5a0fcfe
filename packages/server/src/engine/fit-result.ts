import type { Limits } from "../domain/limits.ts";
import { cutToBytes } from "../domain/result-body.ts";
import type { Verdict } from "../domain/verdict.ts";

/** Whether a team that may store so many bytes has room for so many more, which are then counted as stored. */
export type HasRoom = (teamId: number, most: number, bytes: number) => boolean;

/** Kept of an answer for which there is no room: enough to tell by what it was. */
const LEAST_BYTES = 1_024;

/**
 * A team that has stored all that its plan allows makes no more tasks; but those that it has made may be thousands, each with an
 * answer of a megabyte. Of these only the beginning is kept then.
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
