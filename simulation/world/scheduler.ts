/** Something that is to happen. */
export interface Event {
  cancel(): void;
}

/** Time that is simulated: it passes from one event to the next, and nothing happens between two of them. */
export interface Scheduler {
  readonly nowMs: number;
  /** Does the work after so long; of what is due at the same instant, the first that was asked for comes first. */
  after(ms: number, work: () => void): Event;
  /** Ends the run with this error: the simulation itself is wrong. */
  fail(error: unknown): void;
  /** Until the time is over, or there is no more reason to go on. */
  run(untilMs: number, isDone?: () => boolean): Promise<void>;
}

interface Entry {
  readonly atMs: number;
  readonly number: number;
  work: (() => void) | null;
}

const resolved = Promise.resolve();

/** Instants are eighths of a millisecond: exact as numbers and as timestamps of PostgreSQL, so that equal ones stay equal. */
const PER_MS = 8;

export function createScheduler(): Scheduler {
  const heap: Entry[] = [];
  let nowMs = 0;
  let count = 0;
  let failure: { readonly error: unknown } | null = null;

  return {
    get nowMs() {
      return nowMs;
    },
    after(ms, work) {
      const entry: Entry = {
        atMs: Math.ceil((nowMs + Math.max(0, ms)) * PER_MS) / PER_MS,
        number: count,
        work,
      };
      count += 1;
      push(heap, entry);
      return {
        cancel() {
          entry.work = null;
        },
      };
    },
    fail(error) {
      failure ??= { error };
    },
    run(untilMs, isDone = () => false) {
      return new Promise((resolve, reject) => {
        function step(): void {
          try {
            if (happen()) resolved.then(stepAfterPromises);
            else resolve();
          } catch (error) {
            reject(error);
          }
        }
        /** False: it is over. */
        function happen(): boolean {
          if (failure !== null) throw failure.error;
          const next = heap[0];
          const isOver = next === undefined || next.atMs > untilMs;
          if (isOver) nowMs = untilMs;
          if (isOver || isDone()) return false;
          pop(heap);
          nowMs = next.atMs;
          next.work?.();
          return true;
        }
        // A tick comes when no promise has anything left to do: what an event set in motion has then come to its next wait.
        const stepAfterPromises = () => process.nextTick(step);
        step();
      });
    },
  };
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.number < other.number);
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Entry;
    if (!isBefore(entry, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop() as Entry;
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    if (left >= heap.length) break;
    const right = left + 1;
    const child = right < heap.length && isBefore(heap[right] as Entry, heap[left] as Entry) ? right : left;
    if (!isBefore(heap[child] as Entry, last)) break;
    heap[at] = heap[child] as Entry;
    at = child;
  }
  heap[at] = last;
}
