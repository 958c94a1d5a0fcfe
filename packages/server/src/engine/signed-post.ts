import type { Outcome } from "../domain/outcome.ts";
import type { Lease } from "./lease.ts";
import type { Outgoing } from "./outgoing.ts";

const TIMEOUT_MS = 30_000;

/** A request of Bellhop to a receiver: JSON, signed with the team's secret. */
interface Post {
  readonly teamId: number;
  /** The row that the request is about. */
  readonly rowId: string;
  /** The id that the receiver sees, the same on every try. */
  readonly messageId: string;
  readonly url: string;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Null if the request was not sent because its secrets could not be decrypted. */
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
  return sent.kind === "refused" ? null : sent;
}
