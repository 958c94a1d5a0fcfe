import { type Config, ConfigError } from "../config.ts";
import { TracePackagesMissing } from "../outbound/trace-exporter.ts";
import { explainDatabaseFailure } from "../postgres/database-failure.ts";
import { NotStarted } from "../processes/process-group.ts";

/** Explains in one line why the server did not start, with the setting and the remedy. */
export function explainStartFailure(error: unknown, config: Config | null): string {
  if (error instanceof ConfigError || error instanceof NotStarted || error instanceof TracePackagesMissing)
    return error.message;
  const known =
    config === null ? null : (explainListenFailure(error, config) ?? explainDatabase(error, config));
  return known ?? `Bellhop could not start: ${error instanceof Error ? error.message : String(error)}`;
}

function explainDatabase(error: unknown, { databaseUrl }: Config): string | null {
  return databaseUrl === null ? null : explainDatabaseFailure(error, databaseUrl);
}

function explainListenFailure(error: unknown, { host, port }: Config): string | null {
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return null;
  const { code, syscall } = error;
  const isLookup = syscall === "getaddrinfo" && "hostname" in error && error.hostname === host;
  if (isLookup || (syscall === "listen" && code === "EADDRNOTAVAIL"))
    return `HOST is ${host}, which is not an address of this machine (${code}). Set HOST to one, such as 127.0.0.1, or 0.0.0.0 for all.`;
  // If a parent listens for its processes, the failing system call is bind.
  if (syscall !== "listen" && syscall !== "bind") return null;
  if (code === "EADDRINUSE")
    return (
      `Port ${port} on ${host} is in use: another program, perhaps another Bellhop, listens there (EADDRINUSE). ` +
      "Stop it, or set PORT to another port; PORT=0 selects a free one."
    );
  if (code === "EACCES")
    return (
      `This user may not open port ${port} (EACCES): ports below 1024 are reserved for root. ` +
      "Set PORT to 1024 or higher and put a proxy in front, or give the process CAP_NET_BIND_SERVICE."
    );
  return null;
}
