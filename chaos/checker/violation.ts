/** Something that must never happen, and did. */
export interface Violation {
  readonly promise: PromiseName;
  readonly text: string;
  readonly taskId: string | null;
  /** When it happened, to look it up in the evidence. */
  readonly at: number | null;
}

export type PromiseName = keyof typeof PROMISES;

/** In the words of docs/guarantees.md. */
export const PROMISES = {
  A: "a task that was accepted is never lost",
  B: "a completed task had an answer that was seen",
  C: "every call is on record before it leaves",
  D: "one outcome per task",
  model: "every change of a task is a step of the explored protocols",
  E: "concurrency is a hard limit",
  F: "no call after a successful DELETE or cancel",
  G: "a vault credential is in the calls that name its token, and nowhere else",
  H: "the limits of a flow and the rate of a queue are hard",
  waiting: "a task that may start does not wait",
  attempts: "the record tells every call",
  twice: "no call is made twice without a cause",
  rest: "nothing stays under way for nobody",
  stats: "counts are exact",
  order: "the highest priority starts first, and nothing before it is due",
  line: "an ordered queue or flow starts its tasks in the order of creation, each when the one before has ended",
  dedupe: "a key of deduplication starts one task within its window, and refuses none after it",
  breaker: "a circuit breaker opens for a host that fails, keeps calls from it, and closes",
  slots: "every place of a queue or flow can be taken again",
  sandbox: "simulated tasks come to what was asked for, and live ones keep their clock",
  retention: "a task that has ended lives as long as the retention says",
  told: "the caller is told after the end, at least once",
  schedules: "every time of a schedule makes one task",
  bulks: "every task of a bulk action has one turn",
  events: "every change of a task is told once, in the order of the changes",
  webhooks: "a webhook is told of every change of a task, each under an id of its own",
  values: "a task is called with its own payload, and keeps the result of its own last attempt",
  callbacks: "a callback counts once",
  answers: "the API answers within its time",
  process: "a node stays up, and stops when asked",
} as const;
