import { type Logger, pino } from "pino";
import { printable } from "./cli/table.ts";
import { errorFields } from "./error-fields.ts";

/** Logs go to stderr: stdout is for the banner. On a terminal they are lines to read, elsewhere JSON. */
export function createLog(
  level: string,
  isTerminal: boolean,
  /** Which of several processes writes it; null: there is one. */
  writer: string | null = null,
): { log: Logger; flush: () => void } {
  const options = {
    level,
    base: writer === null ? null : { process: writer },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorFields },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (isTerminal) {
    const write = (line: string) => process.stderr.write(`${readable(JSON.parse(line))}\n`);
    return { log: pino(options, { write }), flush: () => {} };
  }
  // In small batches: a line costs a system call.
  const destination = pino.destination({ dest: 2, sync: false, periodicFlush: 100, ...batches(writer) });
  return { log: pino(options, destination), flush: () => destination.flushSync() };
}

/**
 * Whole lines of no more than 4096 bytes go into a pipe in one piece (POSIX, PIPE_BUF): longer batches of several processes
 * would run into each other.
 */
function batches(writer: string | null): { readonly minLength: number; readonly maxWrite?: number } {
  return writer === null ? { minLength: 4096 } : { minLength: 2048, maxWrite: 4096 };
}

/** `20:49:01 warn  setting.without_effect  setting=…`; texts of several lines and stacks stand below. */
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
