import type { Call } from "../domain/call.ts";
import type { Outcome } from "../domain/outcome.ts";
import { fillPlaceholders } from "../domain/placeholders.ts";
import { Problem } from "../domain/problem.ts";
import { Secret } from "../domain/secret.ts";
import type { FailureReason } from "../domain/task.ts";
import { mayBeSentTo, vaultReferences } from "../domain/vault-token.ts";
import type { Caller } from "../outbound/caller.ts";
import type { ReadWhole } from "../outbound/exchange.ts";
import type { CallSecrets, WipeText } from "../outbound/secret-call.ts";
import { signatureHeaders } from "../outbound/signature.ts";
import { SealError } from "../vault/cipher.ts";
import type { Vault } from "../vault/vault.ts";

/** A call as recorded: credentials by reference, placeholders not replaced. */
export interface RecordedCall {
  readonly teamId: number;
  /** The id that the target sees; part of the signature. */
  readonly messageId: string;
  /** The row that the encrypted values are bound to. */
  readonly taskId: string;
  readonly call: Call;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly sign: boolean;
  /** The encrypted callback id that replaces the placeholders. */
  readonly callbackSealed: string | null;
  /** Secrets of an earlier call of the same task that the answer may repeat. */
  readonly wipe: {
    readonly headers: Readonly<Record<string, string>>;
    readonly callbackSealed: string | null;
  } | null;
  readonly signal: AbortSignal;
  /** Receives the call when it starts, to abort only this one. */
  readonly began?: (call: { stop(): void }) => void;
  /** Reads the answer beyond the part that is stored. */
  readonly readWhole?: ReadWhole | undefined;
  /** Checked right before the first byte is sent. */
  readonly mayLeave: () => boolean;
}

/** The caller's outcome as it is: wrapping it in another object would take one more promise per call. */
export type Sent = Refused | (Outcome & MayHoldSecrets);

/** The call was not made, and a retry would fail too. */
export interface Refused {
  readonly kind: "refused";
  readonly reason: FailureReason;
  readonly error: string;
}

interface MayHoldSecrets {
  /**
   * Only for an answer that was read whole: its body still contains secrets, and every part that is stored must pass
   * through this.
   */
  readonly wipeText?: WipeText;
}

export interface Outgoing {
  send(recorded: RecordedCall): Promise<Sent>;
}

/** The purpose of a call. */
export type CallKind = "attempt" | "poll" | "notification" | "delivery";

export type TraceCalls = (kind: CallKind, outgoing: Outgoing) => Outgoing;

const UNREADABLE = "What the vault holds for this call cannot be read with the server's keys";

/** Resolves a recorded call at the last moment and sends it. */
export function createOutgoing(deps: {
  readonly caller: Pick<Caller, "call" | "callUnwiped">;
  readonly vault: Pick<Vault, "resolve" | "openText">;
  /** Called for every token that is used in a call or a poll. */
  readonly onTokenUse?: (teamId: number, tokenId: string) => void;
  readonly signingSecrets: (teamId: number) => readonly string[] | Promise<readonly string[]>;
  readonly publicUrl: () => string;
  readonly nowMs: () => number;
}): Outgoing {
  async function sendSecret(recorded: RecordedCall): Promise<Sent> {
    const { teamId, wipe } = recorded;
    const callbackId = openCallback(recorded, recorded.callbackSealed);
    const call =
      callbackId === null
        ? recorded.call
        : fillPlaceholders(recorded.call, deps.publicUrl(), callbackId.reveal());
    const credentials = await resolveCredentials(teamId, call);
    if (!(credentials instanceof Map)) return credentials;
    const earlier = wipe === null ? [] : await earlierSecrets(recorded, wipe);
    const others = callbackId === null ? earlier : [callbackId, ...earlier];
    return make(recorded, call, { byReference: credentials, others });
  }

  function openCallback({ teamId, taskId }: RecordedCall, sealed: string | null): Secret | null {
    if (sealed === null) return null;
    return new Secret(deps.vault.openText("callback", teamId, taskId, Buffer.from(sealed, "hex")));
  }

  /** A secret that can no longer be decrypted cannot be found in the answer; this call did not send it. */
  async function earlierSecrets(
    recorded: RecordedCall,
    wipe: NonNullable<RecordedCall["wipe"]>,
  ): Promise<Secret[]> {
    const references = vaultReferences(wipe.headers).map(({ tokenId }) => tokenId);
    const resolved =
      references.length === 0 ? [] : (await deps.vault.resolve(recorded.teamId, references)).values();
    const secrets = [...resolved].flatMap((found) => (typeof found === "string" ? [] : [found.value]));
    const callbackId = openCallback(recorded, wipe.callbackSealed);
    return callbackId === null ? secrets : [...secrets, callbackId];
  }

  function make(recorded: RecordedCall, call: Call, secrets: CallSecrets | null): Promise<Sent> {
    if (!recorded.sign) return dispatch(recorded, call, recorded.headers, secrets);
    // Nearly always cached; then no promise is created.
    const signing = deps.signingSecrets(recorded.teamId);
    const go = (keys: readonly string[]) => dispatch(recorded, call, signed(recorded, call, keys), secrets);
    return signing instanceof Promise ? signing.then(go).catch(refuseUnreadable) : go(signing);
  }

  function signed(
    { headers, messageId }: RecordedCall,
    call: Call,
    keys: readonly string[],
  ): Record<string, string> {
    const seconds = Math.floor(deps.nowMs() / 1000);
    // No spread: V8 gives each object that grows after a spread its own hidden class, and another for each name.
    // trusted keys: all are ours.
    return Object.assign({}, headers, signatureHeaders(keys, messageId, seconds, call.body ?? ""));
  }

  function dispatch(
    { teamId, timeoutMs, signal, began = nothing, mayLeave, readWhole }: RecordedCall,
    call: Call,
    headers: Readonly<Record<string, string>>,
    secrets: CallSecrets | null,
  ): Promise<Sent> {
    const options = { teamId, timeoutMs, headers, signal, began, mayLeave, readWhole };
    if (secrets === null) return deps.caller.call(call, options);
    if (readWhole === undefined) return deps.caller.call(call, { ...options, secrets });
    return deps.caller
      .callUnwiped(call, { ...options, secrets })
      .then(({ outcome, wipeText }) => ({ ...outcome, wipeText }));
  }

  async function resolveCredentials(teamId: number, call: Call): Promise<Map<string, Secret> | Refused> {
    const references = vaultReferences(call.headers).map(({ tokenId }) => tokenId);
    const values = new Map<string, Secret>();
    if (references.length === 0) return values;
    const resolved = await deps.vault.resolve(teamId, references);
    for (const [tokenId, found] of resolved) {
      if (found === "revoked") return refuse("token_revoked", `Vault token "${tokenId}" has been revoked`);
      if (found === "unknown") return refuse("token_revoked", `Vault token "${tokenId}" does not exist`);
      if (found === "unreadable")
        return refuse("blocked", `Vault token "${tokenId}" cannot be read with the server's keys`);
      if (!mayBeSentTo(found.allowedHosts, call.url)) {
        return refuse("blocked", `Vault token "${tokenId}" may not be sent to this host`);
      }
      values.set(tokenId, found.value);
    }
    if (deps.onTokenUse !== undefined) for (const tokenId of values.keys()) deps.onTokenUse(teamId, tokenId);
    return values;
  }

  /**
   * No node with these keys can ever decrypt the values of this call, so it is refused. An unreachable database is
   * temporary.
   */
  function refuseUnreadable(error: unknown): Refused {
    if (isUnreadable(error)) return refuse("blocked", UNREADABLE);
    throw error;
  }

  return {
    send: (recorded) =>
      isPlain(recorded) ? make(recorded, recorded.call, null) : sendSecret(recorded).catch(refuseUnreadable),
  };
}

function nothing(): void {}

function isPlain({ call, callbackSealed, wipe }: RecordedCall): boolean {
  const hasEarlier = wipe !== null && (wipe.callbackSealed !== null || hasReference(wipe.headers));
  return callbackSealed === null && !hasEarlier && !hasReference(call.headers);
}

function isUnreadable(error: unknown): boolean {
  return error instanceof SealError || (error instanceof Problem && error.code === "vault_off");
}

function hasReference(headers: Readonly<Record<string, string>>): boolean {
  for (const name in headers) if (headers[name]?.startsWith("tok_")) return true;
  return false;
}

function refuse(reason: FailureReason, error: string): Refused {
  return { kind: "refused", reason, error };
}
