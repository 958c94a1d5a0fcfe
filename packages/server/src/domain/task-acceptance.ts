import type { Call } from "./call.ts";
import { echo, invalid } from "./complaint.ts";
import { resolveFlow } from "./flow.ts";
import type { Terms } from "./limits.ts";
import { namesCallback } from "./placeholders.ts";
import { requireWithinPlan, withinPlan } from "./plan-rules.ts";
import type { Provider } from "./poll/poll-config.ts";
import { Problem } from "./problem.ts";
import { type Reach, reachOf } from "./reach.ts";
import { requireSandbox } from "./simulation.ts";
import type { FollowUp, NewTask, StoredCallback } from "./task.ts";
import type { TaskRequest } from "./task-copies.ts";
import { taskOfRequest } from "./task-copies.ts";
import { MOST_REFERENCES, type VaultReference, vaultMentions, vaultReferences } from "./vault-token.ts";

/** The owner of the new task. */
export interface TaskOrigin extends Pick<NewTask, "teamId" | "sandbox"> {
  readonly idempotency: { readonly key: string; readonly requestHash: string } | null;
  /** The team's limits. */
  readonly terms: Terms;
  /** Refuses if the creator may not use vault tokens. */
  readonly requireTokenUse: () => void;
}

export type FindProvider = (id: string) => Provider | null;

/** Dependencies: the domain has no database, randomness or vault key. */
export interface AcceptanceDeps {
  readonly findProvider: FindProvider;
  /** Refuses references to vault tokens that cannot be used for this URL. */
  readonly checkReferences: (
    reach: Reach,
    references: readonly VaultReference[],
    url: string,
  ) => Promise<void>;
  /** Refuses text that contains the id of a usable vault token. */
  readonly refuseMentions: (reach: Reach, mentions: readonly VaultReference[]) => Promise<void>;
  readonly newTaskId: () => string;
  readonly newCallback: (teamId: number, taskId: string, use: CallbackUse) => NewCallback;
}

/** Why the callback id must be readable later. */
export interface CallbackUse {
  /** The call contains it, also after a crash and on any node. */
  readonly isNamed: boolean;
  /** A repeated request should return it again, if possible. */
  readonly isRepeatable: boolean;
}

export interface NewCallback extends StoredCallback {
  /** Returned only to the task's creator. */
  readonly id: string;
}

export interface AcceptedRequest {
  readonly task: NewTask;
  readonly callback: NewCallback | null;
}

/**
 * Creates a task from a validated request: of a caller, of a batch, or of a schedule. References are resolved now,
 * because they may be gone since the request was written. No promise without references.
 */
export function acceptRequest(
  request: TaskRequest,
  origin: TaskOrigin,
  deps: AcceptanceDeps,
): AcceptedRequest | Promise<AcceptedRequest> {
  requireWithinPlan(request, origin.terms);
  const follow = withinPlan(followUpOf(request, deps.findProvider), origin.terms.limits);
  const checked = checkCallTokens(request.call, origin, deps);
  return checked === undefined
    ? makeTask(request, follow, origin, deps)
    : checked.then(() => makeTask(request, follow, origin, deps));
}

/** Refuses a call with vault tokens that it may not use. No promise if it names none. */
export function checkCallTokens(
  { url, headers }: Pick<Call, "url" | "headers">,
  origin: Pick<TaskOrigin, "teamId" | "sandbox" | "requireTokenUse">,
  deps: Pick<AcceptanceDeps, "checkReferences" | "refuseMentions">,
): Promise<void> | undefined {
  const references = vaultReferences(headers);
  const mentions = vaultMentions(headers);
  if (references.length === 0 && mentions.length === 0) return undefined;
  return checkTokens(url, references, mentions, origin, deps);
}

async function checkTokens(
  url: string,
  references: readonly VaultReference[],
  mentions: readonly VaultReference[],
  { teamId, sandbox, requireTokenUse }: Pick<TaskOrigin, "teamId" | "sandbox" | "requireTokenUse">,
  deps: Pick<AcceptanceDeps, "checkReferences" | "refuseMentions">,
): Promise<void> {
  if (references.length > MOST_REFERENCES)
    throw invalid([{ field: "headers", error: `headers must name at most ${MOST_REFERENCES} vault tokens` }]);
  if (references.length > 0) {
    requireTokenUse();
    await deps.checkReferences(reachOf(teamId, sandbox), references, url);
  }
  if (mentions.length > 0) await deps.refuseMentions(reachOf(teamId, sandbox), mentions);
}

function makeTask(
  request: TaskRequest,
  follow: FollowUp,
  { teamId, sandbox, idempotency }: TaskOrigin,
  deps: AcceptanceDeps,
): AcceptedRequest {
  const { call, shape } = request;
  const id = deps.newTaskId();
  const isAwaited = follow.waitForCallback || follow.pollConfig !== null;
  // If no callback is awaited, a placeholder is ordinary text.
  const isNamed = isAwaited && namesCallback(call);
  const { dedupe } = request;
  const isReplaceable = dedupe !== null && dedupe.mode !== "first";
  const isRepeatable = idempotency !== null || isReplaceable;
  const callback =
    isAwaited || (shape === "direct" && request.message === null)
      ? deps.newCallback(teamId, id, { isNamed, isRepeatable })
      : null;
  const task = taskOfRequest(request, {
    teamId,
    id,
    follow,
    sandbox,
    delaySeconds: dedupe?.mode === "debounce" ? dedupe.windowSeconds : request.delaySeconds,
    dedupe: dedupe && { ...dedupe, callbackSealed: isReplaceable ? (callback?.sealed ?? null) : null },
    simulate: requireSandbox(request.simulate, sandbox),
    flow: request.flow === null ? null : resolveFlow(request.flow, call),
    callback: callback && { hash: callback.hash, sealed: isNamed ? callback.sealed : null },
    idempotency: idempotency && { ...idempotency, callbackSealed: callback?.sealed ?? null },
  });
  return { task, callback };
}

/** Fixes the poll configuration: the caller's own, or the provider's current entry. */
export function followUpOf(request: TaskRequest, findProvider: FindProvider): FollowUp {
  const { provider, pollConfig, waitForCallback, maxWaitSeconds } = request;
  if (provider === null) return { provider, pollConfig, waitForCallback, maxWaitSeconds };
  const entry = findProvider(provider);
  if (entry === null) throw new Problem("provider_unknown", { id: echo(provider) });
  return { provider, pollConfig: entry.pollConfig, waitForCallback, maxWaitSeconds };
}
