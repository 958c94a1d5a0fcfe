import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { isOutOfFiles, readErrorCode } from "../outbound/error-code.ts";

/** Each connection, inbound or outbound, takes a file descriptor. Most systems allow a service 1,024 or many more. */
export const ENOUGH_FILES = 4_096;
const NEARLY_ALL = 0.9;
const REPEAT_AFTER_MS = 60_000;

/** Node raises its soft limit to the hard one when it starts, so the hard one has to change. */
const ADVICE = "LimitNOFILE=65536 (systemd), --ulimit nofile=65536 (Docker) or ulimit -n 65536 (shell)";

interface WarningLog {
  warn(fields: Readonly<Record<string, unknown>>, event: string): void;
}

/** The file descriptor limit of this process; null if it cannot be read, or there is none. */
export function readFileLimit(path = "/proc/self/limits"): number | null {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync(path, "utf8"))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

export function warnOfLowFileLimit(log: WarningLog, limit = readFileLimit()): void {
  if (limit === null || limit >= ENOUGH_FILES) return;
  log.warn({ limit, recommended: ENOUGH_FILES, set: ADVICE }, "files.limit_low");
}

export interface FileWatch {
  /** Call it for every accepted connection. */
  accepted(socket: Socket): void;
  /** Call it for every failed connection to a target. */
  connectFailed(error: unknown): void;
}

/**
 * Logs a warning when file descriptors run out, at most once a minute for each kind. Node silently closes a connection
 * that it cannot accept for lack of a descriptor. So the warning comes earlier, when 90 % are in use.
 */
export function createFileWatch(
  log: WarningLog,
  limit = readFileLimit(),
  nowMs: () => number = () => performance.now(),
): FileWatch {
  const nearlyAll = limit === null ? Number.POSITIVE_INFINITY : Math.floor(limit * NEARLY_ALL);
  const loggedAtMs = new Map<string, number>();

  function warn(event: string, fields: Readonly<Record<string, unknown>>): void {
    const now = nowMs();
    if (now - (loggedAtMs.get(event) ?? Number.NEGATIVE_INFINITY) < REPEAT_AFTER_MS) return;
    loggedAtMs.set(event, now);
    log.warn({ ...fields, limit, set: ADVICE }, event);
  }

  return {
    accepted(socket) {
      // The kernel assigns the lowest free number: all lower numbers are in use.
      const open = descriptorOf(socket) + 1;
      if (open >= nearlyAll) warn("files.nearly_exhausted", { open });
    },
    connectFailed(error) {
      const code = readErrorCode(error);
      if (isOutOfFiles(code)) warn("files.exhausted", { code });
    },
  };
}

/** -1 if Node does not expose it, as on Windows. */
function descriptorOf(socket: Socket): number {
  const handle: unknown = "_handle" in socket ? socket._handle : null;
  return typeof handle === "object" && handle !== null && "fd" in handle && typeof handle.fd === "number"
    ? handle.fd
    : -1;
}
