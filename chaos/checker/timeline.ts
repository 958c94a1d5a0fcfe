import type { Answer, History, Seen } from "./history.ts";
import type { TaskChange } from "./rows.ts";
import type { Story } from "./stories.ts";

/** Everything that happened to one task, and every fault meanwhile, in order, with seconds since the run began. */
export function drawTimeline(story: Story, history: History): string[] {
  const events = [
    ...story.changes.map((change) => ({ at: change.committedAt, text: describeChange(change) })),
    ...[...story.calls, ...story.polls, ...story.notifications].flatMap(describeSeen),
    ...story.answers.flatMap(describeAnswer),
  ];
  const instants = events.map(({ at }) => at);
  const [first, last] = [Math.min(...instants), Math.max(...instants)];
  const faults = history.faults
    .filter(({ from, to }) => from <= last && to >= first)
    .flatMap(({ kind, nodes, from, to, detail }) => {
      const whom = nodes.length === 0 ? "" : ` of node ${nodes.join(", ")}`;
      return [
        { at: from, text: `    fault   ${kind}${whom} begins ${detail}` },
        { at: to, text: `    fault   ${kind}${whom} is over` },
      ];
    });
  return [...events, ...faults]
    .sort((one, other) => one.at - other.at)
    .map(({ at, text }) => `${((at - history.beganAt) / 1000).toFixed(3).padStart(9)}  ${text}`);
}

function describeChange({ op, row }: TaskChange): string {
  const holder = row.workerId === null ? "" : ` by worker ${row.workerId}`;
  const attempts = row.attempts.map(
    ({ number, status, phase, code }) => `${number} ${status} ${code ?? phase}`,
  );
  return `database ${op} → ${row.status}${holder}, fence ${row.fence}, attempt ${row.attemptCount} [${attempts.join(", ")}]`;
}

function describeSeen(seen: Seen): { at: number; text: string }[] {
  const what = seen.kind === "call" ? `attempt ${seen.attempt}` : `${seen.kind} ${seen.says ?? ""}`;
  const answered = seen.status === null ? "without an answer" : `with ${seen.status}, whole: ${seen.whole}`;
  const begun = { at: seen.begunAt, text: `  target ${what} begins` };
  if (seen.endedAt === null) return [begun];
  return [begun, { at: seen.endedAt, text: `  target ${what} ends by the ${seen.endedBy} ${answered}` }];
}

function describeAnswer({
  action,
  node,
  at,
  endedAt,
  status,
  failure,
}: Answer): { at: number; text: string }[] {
  return [
    { at, text: `  client ${action} → node ${node}` },
    { at: endedAt, text: `  client ${action} ← node ${node}: ${status ?? failure}` },
  ];
}
