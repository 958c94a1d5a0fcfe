import { sourceOf } from "../../domain/identity/source-address.ts";
import { createSourceLimit, type SharedHits, type SourceLimit } from "./source-limit.ts";

/**
 * Slows down a source that keeps presenting invalid credentials. A valid credential is still accepted: other clients at
 * the same address, or behind the same proxy, must not be able to lock it out.
 */
export interface FailureLimit extends Pick<SourceLimit, "count"> {
  /**
   * Runs a lookup that may fail (null) and counts a failure. A source has no more lookups in flight than failures left.
   * Beyond that, lookups pass a narrow gate, source by source in turn, so that a flood costs the database little; a
   * failure there is refused as rate limited.
   */
  attempt<T>(address: string, look: () => Promise<T | null>): Promise<T | null>;
}

const FAILURES = { most: 60, seconds: 60 };
/** Concurrent lookups for all sources over the limit: some thousand a second, and a quarter of the API's connections. */
const DOOR_WIDTH = 2;

/** The lookups of one source; waiting ones are told whether it is their turn, or that none is left. */
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
    // Start over: it must pass the gate now, unless the minute has passed.
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

/** Limits concurrent work. Waiting work is taken from the sources in turn: none waits for another's flood. */
function createDoor(width: number): <T>(source: string, work: () => Promise<T>) => Promise<T> {
  const waiting = new Map<string, (() => void)[]>();
  let inside = 0;

  function letIn(): void {
    const next = waiting.entries().next();
    if (next.done || inside >= width) return;
    const [source, line] = next.value;
    const enter = line.shift();
    // It moves to the end, behind every other source.
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
