import type { Sql } from "../sql.ts";

/** The channel on which nodes tell each other what changed. Losing a hint costs a poll interval, never a task. */
export const CHANNEL = "bellhop";

/**
 * `due`: there is work · `queue`: its settings changed · `slots`: a worker needs some, or gave some back · `team`: its
 * plan changed, whatever the queue.
 */
export interface Hint {
  readonly kind: "due" | "queue" | "slots" | "team";
  readonly teamId: number;
  readonly queue: string;
}

/** `from` is the worker that speaks, so that it need not listen to itself; 0 for none. */
export async function sendHint(sql: Sql, hint: Hint, from: number): Promise<void> {
  await sql.rows("select pg_notify($1, $2)", [CHANNEL, `${hint.kind} ${hint.teamId} ${hint.queue} ${from}`]);
}

/** Null for what a newer node may say and this one does not understand. */
export function parseHint(message: string): (Hint & { readonly from: number }) | null {
  const [kind, team, queue, from] = message.split(" ");
  if (kind !== "due" && kind !== "queue" && kind !== "slots" && kind !== "team") return null;
  if (team === undefined || queue === undefined) return null;
  return { kind, teamId: Number(team), queue, from: Number(from) };
}
