import type { Call } from "../call.ts";
import { type LookedUp, lookUp } from "../json/look-up.ts";
import type { PollsSeen } from "../task.ts";
import type { PollConfig } from "./poll-config.ts";
import { catalogOrigins, type PollTarget, pollTarget } from "./poll-target.ts";
import { templatePaths } from "./poll-template.ts";
import { FRESH_POLL, type PollState } from "./poll-verdict.ts";

type Target = Omit<Extract<PollTarget, { ok: true }>, "ok">;

/** All data to continue polling on any node, stored in the task's row. */
export interface PollPlan {
  readonly status: Target;
  /** Where to fetch the result, if it is not in the answer that says done. */
  readonly result: Target | null;
  /** Where to cancel the job, if possible. */
  readonly cancel?: Target;
  /** The job is done; only its result remains to be fetched. */
  readonly fetching: boolean;
  readonly state: PollState;
  /** Absent before the first poll. */
  readonly seen?: PollsSeen;
}

/** The paths to look up in the answer to the first call to plan the polling. */
export function startPaths({
  urlTemplate,
  resultUrlTemplate = "",
  cancelUrlTemplate = "",
}: PollConfig): string[] {
  return [...new Set([urlTemplate, resultUrlTemplate, cancelUrlTemplate].flatMap(templatePaths))];
}

/** Created once, from the answer to the first call. It fixes the URLs and the headers. */
export function planPolling(
  provider: string | null,
  config: PollConfig,
  answer: { readonly body: string; readonly found?: LookedUp },
  firstCall: Pick<Call, "url" | "headers">,
): { readonly ok: true; readonly plan: PollPlan } | { readonly ok: false; readonly message: string } {
  const start = answer.found ?? lookUp(answer.body, startPaths(config));
  const request = { config, start, firstCall, catalogOrigins: catalogOrigins(provider, config) };
  const status = pollTarget({ ...request, template: config.urlTemplate });
  if (!status.ok) return status;
  const result =
    config.resultUrlTemplate === undefined
      ? null
      : pollTarget({ ...request, template: config.resultUrlTemplate });
  if (result !== null && !result.ok) return result;
  // Best effort: without a cancel URL the job is still polled.
  const { cancelUrlTemplate } = config;
  const cancel =
    cancelUrlTemplate === undefined ? null : pollTarget({ ...request, template: cancelUrlTemplate });
  const plan = {
    status: toTarget(status),
    result: result && toTarget(result),
    ...(cancel?.ok && { cancel: toTarget(cancel) }),
    fetching: false,
    state: FRESH_POLL,
  };
  return { ok: true, plan };
}

function toTarget({ url, headers, withheld }: Target): Target {
  return { url, headers, withheld };
}
