import { Client, type ClientConfig } from "pg";
import { MadeBeforeRelease } from "../store/migration-history.ts";
import type { EmbeddedConnection } from "./socket-dir.ts";

/**
 * Gives the application a role that owns its database and nothing else, and may do nothing to the server.
 *
 * The right to log in comes last: a role that can log in has its database, so a start that was interrupted anywhere before
 * repeats this. A lost password is set again in the same way. Each step can be done twice. A database of another role is of a
 * build from before roles were kept apart.
 */
export async function prepareRole(admin: EmbeddedConnection, app: EmbeddedConnection): Promise<void> {
  const role = quote(app.user);
  await withClient({ ...admin, database: "postgres" }, async (client) => {
    const databases = await client.query<{ owner: string }>(
      "select pg_get_userbyid(datdba) as owner from pg_database where datname = $1",
      [app.database],
    );
    const owner = databases.rows[0]?.owner;
    if (owner !== undefined && owner !== app.user) throw new MadeBeforeRelease();
    const roles = await client.query("select from pg_roles where rolname = $1", [app.user]);
    if (roles.rowCount === 0) await client.query(`create role ${role} nologin`);
    if (owner === undefined) await client.query(`create database ${quote(app.database)} owner ${role}`);
    await client.query(
      `alter role ${role} with login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
         password ${client.escapeLiteral(app.password ?? "")}`,
    );
  });
}

async function withClient(config: ClientConfig, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ ...config, ssl: false });
  client.on("error", () => {});
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
