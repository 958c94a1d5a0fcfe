import { echo } from "./complaint.ts";
import { namesCallback } from "./placeholders.ts";
import type { Provider } from "./poll/poll-config.ts";
import { Problem } from "./problem.ts";
import { type FollowUp, makeNewTask, type NewTask, type StoredCallback } from "./task.ts";
import type { TaskRequest } from "./task-request.ts";
import { type VaultReference, vaultMentions, vaultReferences } from "./vault-token.ts";

/** Whose task it will be. */
export interface TaskOrigin extends Pick<NewTask, "teamId" | "sandbox"> {
  readonly idempotency: { readonly key: string; readonly requestHash: string } | null;
  /** Refuses if the task's creator may not have vault tokens sent. */
  readonly requireTokenUse: () => void;
}

export type FindProvider = (id: string) => Provider | null;

/** What acceptance must be given: the domain has neither database, nor randomness, nor the vault's key. */
export interface AcceptanceDeps {
  readonly findProvider: FindProvider;
  /** Refuses references to vault tokens that no call to this URL could be made with. */
  readonly checkReferences: (
    teamId: number,
    references: readonly VaultReference[],
    url: string,
  ) => Promise<void>;
  /** Refuses text that has the id of one of the team's vault tokens in it. */
  readonly refuseMentions: (teamId: number, mentions: readonly VaultReference[]) => Promise<void>;
  readonly newTaskId: () => string;
  readonly newCallback: (teamId: number, taskId: string, use: CallbackUse) => NewCallback;
}

/** Why its id must be readable later. */
export interface CallbackUse {
  /** The call names it, and must be able to after a crash, on any node. */
  readonly isNamed: boolean;
  /** A repeated request is to be told it again, if that can be. */
  readonly isRepeatable: boolean;
}

export interface NewCallback extends StoredCallback {
  /** To be told to the task's creator alone. */
  readonly id: string;
}

/**
 * Makes a task of a request whose own rules have been checked: of a caller's, of one in a batch, or of one that is due
 * again by a timetable. What it refers to is looked up now, for it may have gone since the request was written.
 */
export async function acceptRequest(
  request: TaskRequest,
  { teamId, sandbox, idempotency, requireTokenUse }: TaskOrigin,
  deps: AcceptanceDeps,
): Promise<{ readonly task: NewTask; readonly callback: NewCallback | null }> {
  const { call, shape } = request;
  const follow = followUpOf(request, deps.findProvider);
  const references = vaultReferences(call.headers);
  if (references.length > 0) {
    requireTokenUse();
    await deps.checkReferences(teamId, references, call.url);
  }
  const mentions = vaultMentions(call.headers);
  if (mentions.length > 0) await deps.refuseMentions(teamId, mentions);
  const id = deps.newTaskId();
  const isAwaited = follow.waitForCallback || follow.pollConfig !== null;
  // In a call that no callback is awaited for, a placeholder is text like any other.
  const isNamed = isAwaited && namesCallback(call);
  const isRepeatable = idempotency !== null;
  const callback =
    isAwaited || shape === "direct" ? deps.newCallback(teamId, id, { isNamed, isRepeatable }) : null;
  const task = makeNewTask(request, {
    teamId,
    id,
    sandbox,
    follow,
    callback: callback && { hash: callback.hash, sealed: isNamed ? callback.sealed : null },
    idempotency: idempotency && { ...idempotency, callbackSealed: callback?.sealed ?? null },
  });
  return { task, callback };
}

/** What will be polled is decided here: the caller's own configuration, or what the provider's entry says now. */
export function followUpOf(request: TaskRequest, findProvider: FindProvider): FollowUp {
  const { provider, pollConfig, waitForCallback, maxWaitSeconds } = request;
  if (provider === null) return { provider, pollConfig, waitForCallback, maxWaitSeconds };
  const entry = findProvider(provider);
  if (entry === null) throw new Problem("provider_unknown", { id: echo(provider) });
  return { provider, pollConfig: entry.pollConfig, waitForCallback, maxWaitSeconds };
}
