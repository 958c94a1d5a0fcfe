import type { Call } from "../call.ts";
import { type LookedUp, lookUp } from "../json/look-up.ts";
import type { PollsSeen } from "../task.ts";
import type { PollConfig } from "./poll-config.ts";
import { catalogOrigins, type PollTarget, pollTarget } from "./poll-target.ts";
import { templatePaths } from "./poll-template.ts";
import { FRESH_POLL, type PollState } from "./poll-verdict.ts";

type Target = Omit<Extract<PollTarget, { ok: true }>, "ok">;

/** All that is needed to go on polling, on any node. It lies in the task's row. */
export interface PollPlan {
  readonly status: Target;
  /** Where the result lies, if not in the answer that says done. */
  readonly result: Target | null;
  /** Where to say that the job is no longer wanted, if that can be said. */
  readonly cancel?: Target;
  /** The job is done; what is left is to fetch its result. */
  readonly fetching: boolean;
  readonly state: PollState;
  /** Left out before the first. */
  readonly seen?: PollsSeen;
}

/** What must be looked up in the answer to the first call before polling can be planned. */
export function startPaths({
  urlTemplate,
  resultUrlTemplate = "",
  cancelUrlTemplate = "",
}: PollConfig): string[] {
  return [...new Set([urlTemplate, resultUrlTemplate, cancelUrlTemplate].flatMap(templatePaths))];
}

/** Made once, from the answer to the first call. Where it leads and what goes along is decided here and kept. */
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
  // Best effort: an answer that does not lead there is no reason to give the job up.
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
