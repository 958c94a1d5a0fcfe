/*
 * The language of Upstash-Retry-Delay: arithmetic over `retried`, in milliseconds. Written by strangers, so it is parsed
 * within bounds and never given to `eval`.
 */

const LONGEST = 500;
const DEEPEST = 32;
export const LONGEST_RETRY_MS = 86_400_000;

type Evaluate = (retried: number) => number;

const FUNCTIONS: ReadonlyMap<
  string,
  { readonly least: number; readonly most: number; of(...values: number[]): number }
> = new Map([
  ["pow", { least: 2, most: 2, of: Math.pow }],
  ["sqrt", { least: 1, most: 1, of: Math.sqrt }],
  ["abs", { least: 1, most: 1, of: Math.abs }],
  ["exp", { least: 1, most: 1, of: Math.exp }],
  ["floor", { least: 1, most: 1, of: Math.floor }],
  ["ceil", { least: 1, most: 1, of: Math.ceil }],
  ["round", { least: 1, most: 1, of: Math.round }],
  ["min", { least: 1, most: LONGEST, of: Math.min }],
  ["max", { least: 1, most: LONGEST, of: Math.max }],
]);

const TOKEN = /\s*(?:(\d+(?:\.\d+)?|\.\d+)|([a-z]+)|([-+*/(),]))\s*/y;

/** What is wrong with an expression, as the end of a sentence. */
export class ExpressionError extends Error {}

/** The delay in milliseconds before a retry; `retried` is 0 at the first. */
export function compileRetryDelay(text: string): Evaluate {
  if (text.length > LONGEST) throw new ExpressionError(`must have at most ${LONGEST} characters`);
  const tokens = tokensOf(text);
  let place = 0;

  function take(wanted: string): boolean {
    if (tokens[place] !== wanted) return false;
    place += 1;
    return true;
  }

  function require(wanted: string): void {
    if (!take(wanted)) throw unexpected(tokens[place], wanted);
  }

  function sum(depth: number): Evaluate {
    if (depth > DEEPEST) throw new ExpressionError(`must be nested at most ${DEEPEST} deep`);
    const isNegative = take("-");
    let left = product(depth);
    if (isNegative) left = negative(left);
    for (;;) {
      const isPlus = take("+");
      if (!isPlus && !take("-")) return left;
      left = isPlus ? added(left, product(depth)) : subtracted(left, product(depth));
    }
  }

  function product(depth: number): Evaluate {
    let left = factor(depth);
    for (;;) {
      const isTimes = take("*");
      if (!isTimes && !take("/")) return left;
      left = isTimes ? multiplied(left, factor(depth)) : divided(left, factor(depth));
    }
  }

  function factor(depth: number): Evaluate {
    const token = tokens[place];
    place += 1;
    if (token === "(") {
      const inner = sum(depth + 1);
      require(")");
      return inner;
    }
    if (token === "retried") return (retried) => retried;
    if (token !== undefined && /^[\d.]/.test(token)) {
      const value = Number(token);
      return () => value;
    }
    const named = token === undefined ? undefined : FUNCTIONS.get(token);
    if (named === undefined) throw unexpected(token, "a number, retried, a function or (");
    require("(");
    const given: Evaluate[] = [];
    do given.push(sum(depth + 1));
    while (take(","));
    require(")");
    if (given.length < named.least || given.length > named.most)
      throw new ExpressionError(`gives ${given.length} values to ${token}`);
    return (retried) => named.of(...given.map((value) => value(retried)));
  }

  const whole = sum(1);
  if (place < tokens.length) throw unexpected(tokens[place], "its end");
  return whole;
}

/** Known to be valid: it was checked when the message was published. No number or below 0 is 0, above a day is a day. */
export function retryDelayMs(expression: string, retried: number): number {
  const ms = compileRetryDelay(expression)(retried);
  return Number.isNaN(ms) ? 0 : Math.round(Math.min(Math.max(ms, 0), LONGEST_RETRY_MS));
}

/** After the n-th failure, without an expression. */
export function defaultRetryDelayMs(failures: number): number {
  return Math.round(Math.min(LONGEST_RETRY_MS, Math.exp(2.5 * failures) * 1000));
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) throw new ExpressionError(`has an unknown character at ${at}`);
    tokens.push(found[1] ?? found[2] ?? found[3] ?? "");
  }
  return tokens;
}

function unexpected(token: string | undefined, wanted: string): ExpressionError {
  return new ExpressionError(
    `has ${token === undefined ? "its end" : `"${token}"`} where ${wanted} is expected`,
  );
}

const negative =
  (value: Evaluate): Evaluate =>
  (retried) =>
    -value(retried);
const added =
  (left: Evaluate, right: Evaluate): Evaluate =>
  (retried) =>
    left(retried) + right(retried);
const subtracted =
  (left: Evaluate, right: Evaluate): Evaluate =>
  (retried) =>
    left(retried) - right(retried);
const multiplied =
  (left: Evaluate, right: Evaluate): Evaluate =>
  (retried) =>
    left(retried) * right(retried);
const divided =
  (left: Evaluate, right: Evaluate): Evaluate =>
  (retried) =>
    left(retried) / right(retried);
