/** A backup that was made while tasks were created and called, and what a server shows that was restored from it. */
export interface RestoreRecord {
  /** Tasks that were answered 201: when, and the fields of the request. */
  readonly accepted: readonly { readonly id: string; readonly at: number; readonly request: Fields }[];
  /** When the backup began. */
  readonly backupAt: number;
  /** What the API said, before it began, of tasks that had ended. */
  readonly endedBefore: readonly { readonly id: string; readonly record: Fields }[];
  /** When the restored server was started; the other had been stopped. */
  readonly restoredAt: number;
  /** What the API of the restored server says at the end of each accepted task; null: it knows no such task. */
  readonly found: ReadonlyMap<string, Fields | null>;
  readonly calls: readonly { readonly id: string; readonly at: number }[];
  /** Of the restored server, by queue and state: the counted tasks and those that are there. */
  readonly tallies: readonly { readonly of: string; readonly counted: number; readonly there: number }[];
  /** Rows of tables that nobody changed. */
  readonly tables: readonly { readonly name: string; readonly before: number; readonly after: number }[];
  /** Restores that must be refused: why each was, and whether it left a database; null: it was not. */
  readonly refusals: readonly {
    readonly of: string;
    readonly said: string | null;
    readonly leftDatabase: boolean;
  }[];
}

type Fields = Readonly<Record<string, unknown>>;

const ENDED = ["completed", "failed", "cancelled"];

/** What is wrong with the restored server. */
export function checkRestored(record: RestoreRecord): string[] {
  return [
    ...checkTasks(record),
    ...checkEnded(record),
    ...checkRepeats(record),
    ...record.tallies.flatMap(({ of, counted, there }) =>
      counted === there ? [] : [`${of}: ${counted} tasks are counted, and ${there} are there`],
    ),
    ...record.tables.flatMap(({ name, before, after }) =>
      before === after ? [] : [`${name} had ${before} rows, and has ${after}`],
    ),
    ...record.refusals.flatMap(({ of, said, leftDatabase }) => [
      ...(said === null ? [`a restore from ${of} was not refused`] : []),
      ...(leftDatabase ? [`a restore from ${of} left a database`] : []),
    ]),
  ];
}

/** What was accepted before the backup began is there, as it was asked for, and has come to its end. */
function checkTasks({ accepted, backupAt, found }: RestoreRecord): string[] {
  return accepted.flatMap(({ id, at, request }) => {
    const task = found.get(id) ?? null;
    if (task === null) return at < backupAt ? [`task ${id} was accepted before the backup, and is lost`] : [];
    const wrong = Object.keys(request).find((field) => !isSame(request[field], task[field]));
    return [
      ...(wrong === undefined
        ? []
        : [`${wrong} of task ${id} is ${text(task[wrong])}, and was ${text(request[wrong])}`]),
      ...(ENDED.includes(String(task.status)) ? [] : [`task ${id} is still ${task.status}`]),
    ];
  });
}

/** What had ended before the backup began is as it was, and was not called again. */
function checkEnded({ endedBefore, found, calls, restoredAt }: RestoreRecord): string[] {
  const again = new Set(calls.filter(({ at }) => at >= restoredAt).map(({ id }) => id));
  return endedBefore.flatMap(({ id, record }) => [
    ...(isSame(record, found.get(id))
      ? []
      : [`task ${id} had ended before the backup as ${text(record)}, and is ${text(found.get(id))}`]),
    ...(again.has(id) ? [`task ${id} had ended before the backup, and was called again`] : []),
  ]);
}

/** Each server calls a task once. Both do only where the first did not end it before the backup: that is judged above. */
function checkRepeats({ calls, restoredAt }: RestoreRecord): string[] {
  const counts = new Map<string, number>();
  for (const { id, at } of calls) {
    const key = `task ${id} by the ${at < restoredAt ? "first" : "restored"} server`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].flatMap(([key, count]) => (count === 1 ? [] : [`${count} calls of ${key}`]));
}

/** In the order of their fields, too, which the API does not change. */
function isSame(one: unknown, other: unknown): boolean {
  return text(one) === text(other);
}

function text(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}
