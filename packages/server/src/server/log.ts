import { type Logger, type LoggerOptions, pino } from "pino";
import { printable } from "../cli/table.ts";
import { errorFields } from "./error-fields.ts";
import { createLogLines, type LogLines } from "./log-lines.ts";

/** Logs go to stderr, stdout is for the banner. On a terminal they are readable lines, elsewhere JSON. */
export function createLog(
  level: string,
  isTerminal: boolean,
  /** The writing process; null if there is one. */
  writer: string | null = null,
): { log: Logger; flush: () => void; drained: () => Promise<void> } {
  const base = writer === null ? null : { process: writer };
  const timestamp = createTimestamp();
  const options = {
    level,
    base,
    timestamp,
    serializers: { err: errorFields },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (isTerminal) {
    const write = (line: string) => process.stderr.write(`${readable(JSON.parse(line))}\n`);
    return { log: pino(options, { write }), flush: () => {}, drained: async () => {} };
  }
  const chunkBytes = writer === null ? LONG_CHUNK : PIPE_CHUNK;
  const destination = pino.destination({ dest: 2, sync: false, maxWrite: chunkBytes });
  const lines = createLogLines(destination, chunkBytes);
  return {
    log: pino({ ...options, hooks: { logMethod: writeShort(lines, base, timestamp) } }, lines),
    flush: lines.flushSync,
    drained: lines.drained,
  };
}

/** A write costs as much as about ten lines: with hundreds of lines each, it is negligible. */
const LONG_CHUNK = 32 * 1024;
/**
 * Writes of at most 4096 bytes to a pipe are atomic (POSIX, PIPE_BUF): longer chunks of several processes would
 * interleave.
 */
const PIPE_CHUNK = 4096;

/** The tasks of a batch are logged within one millisecond. */
function createTimestamp(): () => string {
  let knownMs = Number.NaN;
  let known = "";
  return () => {
    const nowMs = Date.now();
    if (nowMs !== knownMs) {
      knownMs = nowMs;
      known = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return known;
  };
}

type LogMethod = NonNullable<NonNullable<LoggerOptions["hooks"]>["logMethod"]>;

const INFO = 30;

/**
 * Writes the lines of requests and attempts, which are nearly all lines, with JSON.stringify: pino handles each field
 * separately, which takes twice as long. Errors, other levels and values that cannot be stringified go to pino. No
 * logger here has bindings.
 */
function writeShort(lines: LogLines, base: object | null, timestamp: () => string): LogMethod {
  const own = base === null ? "" : `,${JSON.stringify(base).slice(1, -1)}`;
  return function (args, method, level) {
    const [fields, event]: unknown[] = args;
    const text = level === INFO && args.length === 2 ? fieldsText(fields) : null;
    if (text === null || typeof event !== "string") method.apply(this, args);
    else lines.write(`{"level":"info"${timestamp()}${own}${text},"msg":${JSON.stringify(event)}}\n`);
  };
}

/** The serialized fields; null if pino must handle them. */
function fieldsText(fields: unknown): string | null {
  if (typeof fields !== "object" || fields === null || "err" in fields || fields instanceof Error)
    return null;
  try {
    const text = JSON.stringify(fields);
    return text === "{}" ? "" : `,${text.slice(1, -1)}`;
  } catch {
    return null;
  }
}

/** `20:49:01 warn  setting.without_effect  setting=…`; multi-line texts and stacks follow below. */
export function readable(record: Record<string, unknown>): string {
  const { level, time, msg, err, ...fields } = record;
  const clock = String(time).slice(11, 19);
  const given = Object.entries(fields).filter(([, value]) => value !== null);
  const entries = given.map(([name, value]) => [name, textOf(value)] as const);
  const short = entries.filter(([, text]) => !text.includes("\n"));
  const long = entries.filter(([, text]) => text.includes("\n")).map(([, text]) => text);
  const line = [
    `${clock} ${String(level).padEnd(5)} ${msg}`,
    ...short.map(([name, text]) => `${name}=${text}`),
  ];
  const error = Object(err);
  if (err !== undefined) line.push(`${error.type}: ${error.message}`);
  if (error.cause !== undefined) line.push(`because: ${error.cause.message}`);
  if (err !== undefined && /error|fatal/.test(String(level))) long.push(String(error.stack));
  const below = long.flatMap((text) => text.split("\n")).map((text) => `      ${text.trim()}`);
  return [line.join("  "), ...below].map(printable).join("\n");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
