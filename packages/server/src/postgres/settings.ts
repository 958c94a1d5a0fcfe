import type { EmbeddedConnection } from "./socket-dir.ts";

export type Settings = Readonly<Record<string, string>>;

/**
 * How PostgreSQL flushes a whole cluster of a thousand files: in one call where the system supports it, so that a slow
 * disk is waited for once. It runs at the end of `initdb` and before crash recovery.
 */
export const SYNC_METHOD = process.platform === "linux" ? "syncfs" : "fsync";

/** Passed as flags, which override every file: nothing in the data directory can weaken them. */
const SETTINGS: Settings = {
  // A task answered 201 survives a power cut.
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  recovery_init_sync_method: SYNC_METHOD,

  listen_addresses: "",
  max_connections: "100",

  // For a small machine that mostly runs other programs.
  shared_buffers: "128MB",
  max_wal_size: "1GB",
  checkpoint_completion_target: "0.9",
  wal_compression: "on",
  jit: "off",
  // Parallel workers use /dev/shm, of which a container has 64 MB: a large count would fail.
  max_parallel_workers_per_gather: "0",

  // A queue rewrites the same few rows all day: vacuum often, or dead rows fill the hot indexes.
  autovacuum_naptime: "15s",
  autovacuum_vacuum_scale_factor: "0.02",
  autovacuum_analyze_scale_factor: "0.05",
  autovacuum_vacuum_cost_limit: "1000",

  // Values of a statement must never reach a log. Its error goes to the client, so the log needs none of it: `log`
  // omits everything a statement can cause, `terse` omits details that quote rows.
  log_min_messages: "log",
  log_error_verbosity: "terse",
  log_statement: "none",
  log_min_error_statement: "panic",
  log_min_duration_statement: "-1",
  log_parameter_max_length: "0",
  log_parameter_max_length_on_error: "0",
  log_destination: "stderr",
  logging_collector: "off",

  timezone: "UTC",
  log_timezone: "UTC",
};

export function settingFlags({ host, port }: EmbeddedConnection, extraSettings: Settings): string[] {
  const settings = {
    ...SETTINGS,
    ...extraSettings,
    unix_socket_directories: host,
    unix_socket_permissions: "0700",
    port: String(port),
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
