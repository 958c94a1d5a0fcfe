import { type Sql, statement } from "../sql.ts";

/** The NOTIFY channel of the nodes. A lost hint costs a polling interval, never a task. */
export const CHANNEL = "bellhop";

/**
 * `due`: there are due tasks · `later`: a task becomes due before the next check · `ended`: a notification may be due ·
 * `queue`: it was created or changed · `slots`: a worker needs some, or returned some · `team`: its plan changed, for any
 * queue · `schedule`: one of the team changed, for any queue.
 */
const KINDS = ["due", "later", "ended", "queue", "slots", "team", "schedule"] as const;

/** In place of a queue. */
export const NO_QUEUE = "-";

export interface QueueHint {
  readonly kind: (typeof KINDS)[number];
  readonly teamId: number;
  readonly queue: string;
}

/** `void`: this claim of that worker is void, because its task was cancelled · `dropped`: the worker makes no call of it. */
export interface ClaimHint {
  readonly kind: "void" | "dropped";
  readonly claim: HeldClaim;
}

/** The fields that identify a claim, and the worker that holds it. */
export interface HeldClaim {
  readonly taskId: string;
  readonly fence: number;
  readonly workerId: number;
}

/**
 * The third party's job of this cancelled task still runs; the first worker that takes this hint sends the cancel
 * request.
 */
export interface JobHint {
  readonly kind: "job";
  readonly teamId: number;
  readonly taskId: string;
}

/** Tasks of this flow wait in the queue, or the flow's limits or pause changed. */
export interface FlowHint extends Omit<QueueHint, "kind"> {
  readonly kind: "flow";
  readonly flow: string;
  /** No task of the flow has an earlier turn in the queue. Left out: unknown. */
  readonly turn?: number | undefined;
}

export type Hint = QueueHint | ClaimHint | JobHint | FlowHint;

/** `from` is the sending worker, so that it can ignore its own messages; 0 for none. */
export function hintText(hint: Hint, from: number): string {
  if ("flow" in hint) {
    const turn = hint.turn === undefined ? "" : ` ${hint.turn}`;
    return `${hint.kind} ${hint.teamId} ${hint.queue} ${hint.flow}${turn} ${from}`;
  }
  if ("queue" in hint) return `${hint.kind} ${hint.teamId} ${hint.queue} ${from}`;
  if ("taskId" in hint) return `${hint.kind} ${hint.teamId} ${hint.taskId} ${from}`;
  return `${hint.kind} ${hint.claim.taskId} ${hint.claim.fence} ${hint.claim.workerId} ${from}`;
}

const SEND_HINTS = statement(
  "send_hints",
  "select pg_notify($1, message) from unnest($2::text[]) as message",
);

export async function sendHints(sql: Sql, messages: readonly string[]): Promise<void> {
  await sql.rows(SEND_HINTS, [CHANNEL, messages]);
}

/** Null for an unknown message of a newer node. */
export function parseHint(message: string): (Hint & { readonly from: number }) | null {
  const [word, subject, detail, ...rest] = message.split(" ");
  if (subject === undefined || detail === undefined) return null;
  const from = Number(rest.at(-1));
  if (word === "void" || word === "dropped") {
    const claim = { taskId: subject, fence: Number(detail), workerId: Number(rest[0]) };
    return { kind: word, claim, from };
  }
  if (word === "job") return { kind: word, teamId: Number(subject), taskId: detail, from };
  if (word === "flow") {
    const [flow = "", turn] = rest;
    const hint = { kind: word, teamId: Number(subject), queue: detail, flow, from } as const;
    if (rest.length < 2) return null;
    return rest.length === 2 ? hint : { ...hint, turn: Number(turn) };
  }
  const kind = KINDS.find((known) => known === word);
  return kind === undefined ? null : { kind, teamId: Number(subject), queue: detail, from };
}
