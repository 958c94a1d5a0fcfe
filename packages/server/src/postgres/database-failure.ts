import pg from "pg";
import { Problem } from "../domain/problem.ts";
import { splitDatabaseUrl } from "./database-url.ts";
import { explainTlsFailure } from "./tls-failure.ts";

/**
 * Explains why the PostgreSQL of DATABASE_URL cannot be used and what to do about it, without the password. Null for an
 * error that does not come from the database.
 */
export function explainDatabaseFailure(thrown: unknown, databaseUrl: string): string | null {
  const error = thrown instanceof Problem ? thrown.cause : thrown;
  // With several servers, the log has the failure of each; this explains the first.
  const [url = ""] = splitDatabaseUrl(databaseUrl);
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString: url });
  } catch (unusable) {
    return explainUnusable(unusable);
  }
  const server = `PostgreSQL at ${client.host.startsWith("/") ? client.host : `${client.host}:${client.port}`}`;
  if (error instanceof pg.DatabaseError) return explainAnswer(error, server, client);
  const code = error instanceof Error && "code" in error ? String(error.code) : null;
  if (!(thrown instanceof Problem && thrown.code === "database_away")) return null;
  const tls = explainTlsFailure(error);
  if (tls !== null) return `${server} answered, but ${tls.what}. ${tls.remedy}`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `DATABASE_URL names the host ${client.host}, which is not known here (${code}). Correct DATABASE_URL.`;
  if (code === null) {
    const reason = error instanceof Error ? error.message : "it closed the connection";
    const hint = client.password === null ? " It has no password." : "";
    return `${server} cannot be used: ${reason}. Correct DATABASE_URL.${hint}`;
  }
  return (
    `The database of DATABASE_URL cannot be reached: no answer from ${server} (${code}). ` +
    "Start it or correct DATABASE_URL; without DATABASE_URL Bellhop runs its own PostgreSQL."
  );
}

/** The driver reads the certificate files when it parses the address. */
function explainUnusable(error: unknown): string {
  if (error instanceof Error && "code" in error && "path" in error)
    return `DATABASE_URL names the file ${error.path}, which cannot be read (${error.code}). Correct its sslrootcert, sslcert or sslkey.`;
  return `DATABASE_URL cannot be used: ${error instanceof Error ? error.message : String(error)}. Correct it.`;
}

/** By SQLSTATE. The server's message is included where it says more than the code. */
function explainAnswer(
  { code, message }: pg.DatabaseError,
  server: string,
  client: pg.Client,
): string | null {
  const role = pg.escapeIdentifier(client.user ?? "");
  const database = pg.escapeIdentifier(client.database ?? "");
  switch (code) {
    case "28P01":
      return `${server} refuses the role ${role} with this password (28P01). Correct the role or the password in DATABASE_URL.`;
    case "28000":
      if (message.endsWith("no encryption"))
        return `${server} accepts the role ${role} only over TLS: ${message} (28000). Add sslmode=verify-full to DATABASE_URL.`;
      return (
        `${server} rejects the role ${role}: ${message} (28000). ` +
        `Correct DATABASE_URL or pg_hba.conf, or create the role: CREATE ROLE ${role} LOGIN PASSWORD '…';`
      );
    case "3D000":
      return (
        `${server} has no database ${database} (3D000). ` +
        `Correct DATABASE_URL, or create it: CREATE DATABASE ${database} OWNER ${role};`
      );
    case "42501":
    case "3F000":
      return (
        `The role ${role} lacks a right in the database ${database}: ${message} (${code}). Bellhop needs a schema for ` +
        `its tables. As an administrator of that database: CREATE SCHEMA ${role} AUTHORIZATION ${role}; ` +
        `or GRANT USAGE, CREATE ON SCHEMA public TO ${role};`
      );
    case "53300":
      return (
        `${server} has no connection left for the role ${role}: ${message} (53300). A node of Bellhop holds up to 20: ` +
        "raise max_connections, or the limit of the role or the database."
      );
    case "57P03":
      return `${server} is starting up or stopping: ${message} (57P03). Try again shortly.`;
    case "25006":
      return `${server} is read-only, perhaps a standby (25006). Set DATABASE_URL to the writable server.`;
    default:
      return null;
  }
}
