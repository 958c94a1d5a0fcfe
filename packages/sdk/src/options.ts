import { BellhopError } from "./errors.ts";

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** For each try of the request; the client's by default. */
  readonly timeoutMs?: number | undefined;
  /** Retries of a request that is safe to repeat; the client's by default. */
  readonly maxRetries?: number | undefined;
}

export interface CreateOptions extends RequestOptions {
  /** Two requests with the same key create one task. The same as `idempotencyKey` of the task itself. */
  readonly idempotencyKey?: string | undefined;
}

export const REQUEST_OPTIONS = [
  "signal",
  "timeoutMs",
  "maxRetries",
] as const satisfies (keyof RequestOptions)[];

const NUMBERS = ["timeoutMs", "maxRetries", "retryDelayMs", "maxBytes"];

/** Throws for an unknown or invalid option, so that a typo is not ignored. */
export function checkOptions(given: object | undefined, known: readonly string[] = REQUEST_OPTIONS): void {
  if (given === undefined) return;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new BellhopError(`Options must be an object, not ${JSON.stringify(given)}`);
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const meant = known.find((one) => isClose(name, one));
    const hint = meant === undefined ? `known are ${known.join(", ")}` : `did you mean "${meant}"?`;
    throw new BellhopError(`Unknown option "${name}": ${hint}`);
  }
  const values: Record<string, unknown> = { ...given };
  for (const name of NUMBERS) {
    const value = values[name];
    if (value !== undefined && !(typeof value === "number" && value >= 0)) {
      throw new BellhopError(`${name} must be a number, 0 or more`);
    }
  }
  if (values.signal !== undefined && !isSignal(values.signal)) {
    throw new BellhopError("signal must be an AbortSignal");
  }
}

function isSignal(value: unknown): boolean {
  return typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;
}

/** `timeout` and `timeout_ms` mean `timeoutMs`; so does `timeoutSm`, which is two letters away. */
function isClose(name: string, known: string): boolean {
  const [one, other] = [plain(name), plain(known)];
  if (one.length < 3) return false;
  return one.includes(other) || other.includes(one) || editDistance(one, other) <= 2;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at += 1) {
      const replaced = (row[at - 1] ?? 0) + (letter === to[at - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
