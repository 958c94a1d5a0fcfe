import type { Outcome } from "../domain/outcome.ts";
import type { Lease } from "./lease.ts";
import type { Outgoing } from "./outgoing.ts";

const TIMEOUT_MS = 30_000;

/** What Bellhop itself has to say to a receiver: JSON, signed with the team's secret. */
interface Post {
  readonly teamId: number;
  /** The row that is told of. */
  readonly rowId: string;
  /** As the receiver knows it, the same at every try. */
  readonly messageId: string;
  readonly url: string;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Null: it was refused before it began, for what it needs of the vault could not be read. */
export async function post(
  { teamId, rowId, messageId, url, body, signal }: Post,
  { outgoing, lease }: { readonly outgoing: Outgoing; readonly lease: Lease },
): Promise<Outcome | null> {
  const sent = await outgoing.send({
    teamId,
    taskId: rowId,
    messageId,
    call: { method: "POST", url, headers: {}, body },
    headers: { "content-type": "application/json" },
    timeoutMs: TIMEOUT_MS,
    sign: true,
    callbackSealed: null,
    wipe: null,
    signal,
    mayLeave: lease.isHeld,
  });
  return sent.kind === "outcome" ? sent.outcome : null;
}
