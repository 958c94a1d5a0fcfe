import type { Sql } from "../sql.ts";

/** The channel on which nodes tell each other what changed. Losing a hint costs a poll interval, never a task. */
export const CHANNEL = "bellhop";

/** `due`: there is work · `queue`: its settings changed · `slots`: a worker needs some, or gave some back. */
export interface QueueHint {
  readonly kind: "due" | "queue" | "slots";
  readonly teamId: number;
  readonly queue: string;
}

/** `void`: this claim, of that worker, counts no more, its task was cancelled · `dropped`: the worker makes no call of it. */
export interface ClaimHint {
  readonly kind: "void" | "dropped";
  readonly claim: HeldClaim;
}

/** As much of a claim as tells it from every other, and who holds it. */
export interface HeldClaim {
  readonly taskId: string;
  readonly fence: number;
  readonly workerId: number;
}

export type Hint = QueueHint | ClaimHint;

/** `from` is the worker that speaks, so that it need not listen to itself; 0 for none. */
export async function sendHint(sql: Sql, hint: Hint, from: number): Promise<void> {
  await sql.rows("select pg_notify($1, $2)", [CHANNEL, `${hintText(hint)} ${from}`]);
}

function hintText(hint: Hint): string {
  if ("queue" in hint) return `${hint.kind} ${hint.teamId} ${hint.queue}`;
  return `${hint.kind} ${hint.claim.taskId} ${hint.claim.fence} ${hint.claim.workerId}`;
}

/** Null for what a newer node may say and this one does not understand. */
export function parseHint(message: string): (Hint & { readonly from: number }) | null {
  const [kind, subject, detail, ...rest] = message.split(" ");
  if (subject === undefined || detail === undefined) return null;
  const from = Number(rest.at(-1));
  if (kind === "due" || kind === "queue" || kind === "slots")
    return { kind, teamId: Number(subject), queue: detail, from };
  if (kind !== "void" && kind !== "dropped") return null;
  return { kind, claim: { taskId: subject, fence: Number(detail), workerId: Number(rest[0]) }, from };
}
