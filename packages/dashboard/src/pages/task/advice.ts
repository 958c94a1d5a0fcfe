import type { Task } from "@bellhop/sdk";

const ADVICE: Readonly<Record<string, string>> = {
  retries_exhausted:
    "Every attempt failed. Look at the last answer below; when the target works again, retry.",
  poll_failed: "The third party reported that its job failed. Its own words are in the response below.",
  poll_timeout:
    "The job was not done within the time that its configuration allows. Raise maxDuration, or ask the third party.",
  callback_timeout: "Nobody called back in time. Raise max_wait, or look at why the other side did not call.",
  token_revoked: "A vault token that it names was revoked. Store a new one and send the task again with it.",
  blocked:
    "The address is not allowed by this server's egress policy, or the vault token may not be sent to this host.",
  worker_lost:
    "Three processes died while making this call: it may be what kills them. Look at the size of the answer.",
  not_retryable:
    "The target's answer says that asking again is of no use. Change the request before you send it again.",
  expired: "Its first attempt did not begin in time. Was the queue paused, or its concurrency too low?",
  queue_deleted: "Its queue was deleted meanwhile.",
};

/** What to do about it, in a sentence. */
export function adviceOn(task: Task): string {
  if (task.status === "pending") return "It is tried again by itself; see above when.";
  return ADVICE[task.failureReason ?? ""] ?? "The attempts below tell what happened.";
}
