import type { Sql } from "../sql.ts";

/** The channel on which nodes tell each other what changed. Losing a hint costs a poll interval, never a task. */
export const CHANNEL = "bellhop";

/**
 * `due`: there is work · `later`: there will be, sooner than the next look · `ended`: somebody may wait to be told ·
 * `queue`: its settings changed · `slots`: a worker needs some, or gave some back · `team`: its plan changed, whatever
 * the queue.
 */
const KINDS = ["due", "later", "ended", "queue", "slots", "team"] as const;

export interface Hint {
  readonly kind: (typeof KINDS)[number];
  readonly teamId: number;
  readonly queue: string;
}

/** `from` is the worker that speaks, so that it need not listen to itself; 0 for none. */
export function hintText({ kind, teamId, queue }: Hint, from: number): string {
  return `${kind} ${teamId} ${queue} ${from}`;
}

export async function sendHints(sql: Sql, messages: readonly string[]): Promise<void> {
  await sql.rows("select pg_notify($1, message) from unnest($2::text[]) as message", [CHANNEL, messages]);
}

/** Null for what a newer node may say and this one does not understand. */
export function parseHint(message: string): (Hint & { readonly from: number }) | null {
  const [word, team, queue, from] = message.split(" ");
  const kind = KINDS.find((known) => known === word);
  if (kind === undefined || team === undefined || queue === undefined) return null;
  return { kind, teamId: Number(team), queue, from: Number(from) };
}
