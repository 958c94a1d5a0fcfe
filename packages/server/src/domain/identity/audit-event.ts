/** One change: who made it, what it was, on what, from where, when. */
export interface AuditEvent {
  readonly id: string;
  readonly at: Date;
  readonly actor: { readonly kind: AuditActorKind; readonly id: string; readonly name: string };
  /** Resource and past participle: `queue.created`, `api_key.revoked`. */
  readonly action: string;
  /** The public id, or the name, of what was changed. */
  readonly target: string;
  /** What else is worth knowing; never a secret. */
  readonly detail: Readonly<Record<string, unknown>> | null;
  readonly address: string | null;
  readonly requestId: string | null;
}

export const AUDIT_ACTOR_KINDS = ["api_key", "session", "application", "operator"] as const;
export type AuditActorKind = (typeof AUDIT_ACTOR_KINDS)[number];

export const AUDIT_ACTION_PATTERN = "^[a-z_]{1,50}\\.[a-z_]{1,50}$";
