import type { ProblemDetail } from "./problem.ts";

/** A task that expires before it is due would never be called. */
export function expiryComplaints(
  { delaySeconds, expiresInSeconds }: { delaySeconds: number | null; expiresInSeconds: number | null },
  runAt: Date | null,
  names: Readonly<Record<"delaySeconds" | "runAt" | "expiresInSeconds", string>>,
  now: Date,
): ProblemDetail[] {
  if (runAt === null)
    return delayComplaints(names.delaySeconds, delaySeconds ?? 0, names.expiresInSeconds, expiresInSeconds);
  const waitSeconds = (runAt.getTime() - now.getTime()) / 1000;
  return delayComplaints(names.runAt, waitSeconds, names.expiresInSeconds, expiresInSeconds);
}

/** The same for a manual retry, which restarts `expires_in`. */
export function delayComplaints(
  field: string,
  waitSeconds: number,
  expiryField: string,
  expiresInSeconds: number | null,
): ProblemDetail[] {
  if (expiresInSeconds === null || waitSeconds <= expiresInSeconds) return [];
  const error = `${field} is beyond ${expiryField} (${expiresInSeconds} s): the task would expire before it is due`;
  return [{ field, error }];
}
