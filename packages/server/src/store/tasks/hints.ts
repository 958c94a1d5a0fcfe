import type { Sql } from "../sql.ts";

/** The channel on which nodes tell each other what changed. Losing a hint costs a poll interval, never a task. */
export const CHANNEL = "bellhop";

/**
 * `due`: there is work · `later`: there will be, sooner than the next look · `ended`: somebody may wait to be told ·
 * `queue`: its settings changed · `slots`: a worker needs some, or gave some back · `team`: its plan changed, whatever
 * the queue · `schedule`: one of the team changed, whatever the queue.
 */
const KINDS = ["due", "later", "ended", "queue", "slots", "team", "schedule"] as const;

export interface QueueHint {
  readonly kind: (typeof KINDS)[number];
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

/** The job of this cancelled task goes on at its third party, and the worker that takes it first tells that. */
export interface JobHint {
  readonly kind: "job";
  readonly teamId: number;
  readonly taskId: string;
}

export type Hint = QueueHint | ClaimHint | JobHint;

/** `from` is the worker that speaks, so that it need not listen to itself; 0 for none. */
export function hintText(hint: Hint, from: number): string {
  if ("queue" in hint) return `${hint.kind} ${hint.teamId} ${hint.queue} ${from}`;
  if ("taskId" in hint) return `${hint.kind} ${hint.teamId} ${hint.taskId} ${from}`;
  return `${hint.kind} ${hint.claim.taskId} ${hint.claim.fence} ${hint.claim.workerId} ${from}`;
}

export async function sendHints(sql: Sql, messages: readonly string[]): Promise<void> {
  await sql.rows("select pg_notify($1, message) from unnest($2::text[]) as message", [CHANNEL, messages]);
}

/** Null for what a newer node may say and this one does not understand. */
export function parseHint(message: string): (Hint & { readonly from: number }) | null {
  const [word, subject, detail, ...rest] = message.split(" ");
  if (subject === undefined || detail === undefined) return null;
  const from = Number(rest.at(-1));
  if (word === "void" || word === "dropped") {
    const claim = { taskId: subject, fence: Number(detail), workerId: Number(rest[0]) };
    return { kind: word, claim, from };
  }
  if (word === "job") return { kind: word, teamId: Number(subject), taskId: detail, from };
  const kind = KINDS.find((known) => known === word);
  return kind === undefined ? null : { kind, teamId: Number(subject), queue: detail, from };
}
