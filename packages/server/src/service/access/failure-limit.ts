import { sourceOf } from "../../domain/identity/source-address.ts";
import { createSourceLimit, type SourceLimit } from "./source-limit.ts";

/** Holds back a source that keeps presenting credentials that do not count. */
export interface FailureLimit extends Pick<SourceLimit, "count"> {
  /**
   * Makes a look that may fail (null) and counts it if it does, unless the source failed too often of late. No more
   * looks of a source are under way than it may still fail, so that a flood that comes all at once finds the limit too.
   * The others wait their turn: a caller with a credential that counts gets through behind others of the kind.
   */
  attempt<T>(address: string, look: () => Promise<T | null>): Promise<T | null>;
}

const FAILURES = { most: 60, seconds: 60 };

/** The looks of one source; those that wait are told whether it is their turn, or that none is left. */
interface Line {
  underWay: number;
  readonly waiting: ((isTurn: boolean) => void)[];
}

export function createFailureLimit(deps: { readonly monotonicMs: () => number }): FailureLimit {
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

  async function attempt<T>(address: string, look: () => Promise<T | null>): Promise<T | null> {
    limit.refuse(address);
    const source = sourceOf(address);
    const line = lineOf(source);
    if (line.underWay < limit.left(address)) line.underWay += 1;
    // From the beginning: it is refused now, unless the minute has passed meanwhile.
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
