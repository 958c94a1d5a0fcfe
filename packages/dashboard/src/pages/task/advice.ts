import type { Task } from "@bellhop/sdk";

const ADVICE: Readonly<Record<string, string>> = {
  retries_exhausted:
    "Every attempt failed. Look at the last answer below; when the target works again, retry.",
  poll_failed: "The third party reported that its job failed. Its message is in the response below.",
  poll_timeout:
    "The job was not done within the time that its configuration allows. Raise maxDuration, or ask the third party.",
  callback_timeout: "No callback arrived in time. Raise max_wait, or check why the third party did not call.",
  token_revoked: "A vault token that it names was revoked. Store a new one and send the task again with it.",
  blocked:
    "The address is not allowed by this server's egress policy, or the vault token may not be sent to this host.",
  worker_lost:
    "Three processes crashed during this call, so it may be the cause. Check the size of the answer.",
  not_retryable: "The target's answer rules out a retry. Change the request before you send it again.",
  expired: "Its first attempt did not begin in time. Was the queue paused, or its concurrency too low?",
  queue_deleted: "Its queue was deleted meanwhile.",
};

/** What to do about it, in a sentence. */
export function adviceOn(task: Task): string {
  if (task.status === "pending") return "It is retried automatically; the time is above.";
  return ADVICE[task.failureReason ?? ""] ?? "The attempts below show what happened.";
}
