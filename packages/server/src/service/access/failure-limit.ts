import { sourceOf } from "../../domain/identity/source-address.ts";
import { createSourceLimit, type SharedHits, type SourceLimit } from "./source-limit.ts";

/**
 * Holds back a source that keeps presenting credentials that do not count. One that does is let in all the same: others at
 * the same address, or behind the same proxy, must not be able to lock it out.
 */
export interface FailureLimit extends Pick<SourceLimit, "count"> {
  /**
   * Makes a look that may fail (null) and counts it if it does. No more looks of a source are under way than it may still
   * fail. Beyond that they go through a narrow door, source by source in turn, so that a flood costs the database no more
   * than a trickle; and one that fails there is refused like all that come too often.
   */
  attempt<T>(address: string, look: () => Promise<T | null>): Promise<T | null>;
}

const FAILURES = { most: 60, seconds: 60 };
/** Looks at once for all sources that failed too often: some thousand a second, and a quarter of the API's connections. */
const DOOR_WIDTH = 2;

/** The looks of one source; those that wait are told whether it is their turn, or that none is left. */
interface Line {
  underWay: number;
  readonly waiting: ((isTurn: boolean) => void)[];
}

export function createFailureLimit(deps: {
  readonly monotonicMs: () => number;
  readonly shared?: SharedHits | undefined;
}): FailureLimit {
  const limit = createSourceLimit({ ...FAILURES, ...deps });
  const lines = new Map<string, Line>();

  function lineOf(source: string): Line {
    const line = lines.get(source) ?? { underWay: 0, waiting: [] };
    lines.set(source, line);
    return line;
  }

  function moveUp(line: Line, address: string): void {
    const left = limit.left(address);
    if (left === 0) for (const tell of line.waiting.splice(0)) tell(false);
    for (const tell of line.waiting.splice(0, Math.max(0, left - line.underWay))) {
      line.underWay += 1;
      tell(true);
    }
  }

  const door = createDoor(DOOR_WIDTH);

  async function attemptInTurn<T>(address: string, look: () => Promise<T | null>): Promise<T | null> {
    const found = await door(sourceOf(address), look);
    if (found !== null) return found;
    limit.refuse(address);
    limit.count(address);
    return null;
  }

  async function attempt<T>(address: string, look: () => Promise<T | null>): Promise<T | null> {
    if (limit.left(address) <= 0) return attemptInTurn(address, look);
    const source = sourceOf(address);
    const line = lineOf(source);
    if (line.underWay < limit.left(address)) line.underWay += 1;
    // From the beginning: it has to go through the door now, unless the minute has passed meanwhile.
    else if (!(await new Promise<boolean>((tell) => line.waiting.push(tell)))) return attempt(address, look);
    try {
      const found = await look();
      if (found === null) limit.count(address);
      return found;
    } finally {
      line.underWay -= 1;
      moveUp(line, address);
      if (line.underWay === 0 && line.waiting.length === 0) lines.delete(source);
    }
  }

  return { count: limit.count, attempt };
}

/** Lets so much work run at once. What waits is taken from the sources in turn: none waits for the whole flood of another. */
function createDoor(width: number): <T>(source: string, work: () => Promise<T>) => Promise<T> {
  const waiting = new Map<string, (() => void)[]>();
  let inside = 0;

  function letIn(): void {
    const next = waiting.entries().next();
    if (next.done || inside >= width) return;
    const [source, line] = next.value;
    const enter = line.shift();
    // It goes to the end, behind every other source.
    waiting.delete(source);
    if (line.length > 0) waiting.set(source, line);
    inside += 1;
    enter?.();
  }

  return async (source, work) => {
    await new Promise<void>((enter) => {
      const line = waiting.get(source);
      if (line === undefined) waiting.set(source, [enter]);
      else line.push(enter);
      letIn();
    });
    try {
      return await work();
    } finally {
      inside -= 1;
      letIn();
    }
  };
}
