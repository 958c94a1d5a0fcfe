import type { TSchema } from "typebox";
import type { Call } from "../../domain/call.ts";
import type { CreatedTask, Shape, TaskMoment, TaskSummary } from "../../domain/task.ts";

/** A row of the table of fields. */
export interface Field {
  /** What each kind calls it; null where a kind has none of it. */
  readonly names: Pair<string | null>;
  readonly schema: TSchema | Pair<TSchema>;
  /** May be given for a new task. */
  readonly ask?: {
    readonly required?: true | "queue";
    /** What it is when it is not given. */
    readonly default: Plain | ((kind: Shape) => Plain);
    /** Where more is allowed than is shown. */
    readonly schema?: TSchema | Pair<TSchema>;
  };
  readonly show?: {
    readonly in: readonly Place[];
    /** Undefined is left out. */
    readonly of: (task: ViewedTask) => unknown;
    /** The same of what changes, where it is that. */
    readonly ofMoment?: (moment: TaskMoment) => unknown;
    readonly optional?: true | "direct";
  };
}

/** Of a queue task, and of a direct task. */
type Pair<T> = readonly [T, T];
type Plain = string | number | boolean | null | Readonly<Record<string, never>>;

/**
 * The answer to the creation of each kind, and what stands beside a direct task there; the little that the answer to a large
 * batch has room for; a list; the whole record, which is also what `on_complete_url` is told.
 */
export type Place = "queue answer" | "direct answer" | "beside" | "brief" | "list" | "record";

/** Lists know neither body nor attempts, but how many; only the answer to the creation knows the callback. */
export type ViewedTask = Omit<TaskSummary, "attemptCount"> &
  Partial<Pick<TaskSummary, "attemptCount">> &
  Partial<
    Pick<
      CreatedTask,
      "attempts" | "polls" | "notifications" | "retriedWith" | "callback" | "replayed" | "joined"
    >
  > & {
    readonly call: Partial<Call>;
  };

export const EVERYWHERE = ["queue answer", "direct answer", "brief", "list", "record"] as const;
export const RECORDS = ["list", "record"] as const;
export const ANSWERS_AND_RECORDS = ["queue answer", "direct answer", ...RECORDS] as const;
export const DIRECT_ANSWER_AND_RECORDS = ["direct answer", ...RECORDS] as const;

export function always<T = ViewedTask>(places: readonly Place[], of: (task: T) => unknown) {
  return { in: places, of };
}

/** Where there is something to show: neither null nor false. */
export function sometimes<T = ViewedTask>(places: readonly Place[], of: (task: T) => unknown) {
  const shown = (task: T) => {
    const value = of(task);
    return value === null || value === false ? undefined : value;
  };
  return { in: places, of: shown, optional: true } as const;
}

/** Of what changes while a task goes its way. */
export function moving<Show extends { readonly of: (moment: TaskMoment) => unknown }>(show: Show) {
  return { ...show, ofMoment: show.of };
}

export function nameIn({ names }: Field, kind: Shape): string | null {
  return names[kind === "queue" ? 0 : 1];
}

export function schemaIn(schema: Field["schema"], kind: Shape): TSchema {
  return 0 in schema && 1 in schema ? schema[kind === "queue" ? 0 : 1] : schema;
}
