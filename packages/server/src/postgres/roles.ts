import { Client, type ClientConfig } from "pg";
import type { EmbeddedConnection } from "./socket-dir.ts";

/**
 * Gives the application a role that owns its database and nothing else, and may do nothing to the server. Also for a
 * cluster of an earlier version, in which everything belongs to the superuser.
 *
 * The right to log in comes last: a role that can log in is one whose database is whole, so a start that was interrupted
 * anywhere before comes here again. Each step can be done twice.
 */
export async function prepareRole(admin: EmbeddedConnection, app: EmbeddedConnection): Promise<void> {
  const role = quote(app.user);
  const database = quote(app.database);
  await withClient({ ...admin, database: "postgres" }, async (client) => {
    const roles = await client.query("select from pg_roles where rolname = $1", [app.user]);
    if (roles.rowCount === 0) await client.query(`create role ${role} nologin`);
    const databases = await client.query("select from pg_database where datname = $1", [app.database]);
    if (databases.rowCount === 0) await client.query(`create database ${database} owner ${role}`);
  });
  await withClient({ ...admin, database: app.database }, async (client) => {
    await client.query("begin");
    await client.query(`alter database ${database} owner to ${role}`);
    for (const statement of await ownershipStatements(client, admin.user, role))
      await client.query(statement);
    await client.query("commit");
    await client.query(
      `alter role ${role} with login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
         password ${client.escapeLiteral(app.password ?? "")}`,
    );
  });
}

/** `reassign owned` refuses the first superuser, who owns the system's own objects too. */
async function ownershipStatements(client: Client, owner: string, role: string): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `with schemas as (
       select oid, nspname from pg_namespace where nspname <> 'information_schema' and nspname !~ '^pg_')
     select format('alter schema %I owner to ${role}', nspname) as statement from schemas
     union all
     select format('alter table %s owner to ${role}', c.oid::regclass)
       from pg_class c join schemas on schemas.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'S') and c.relowner = $1::regrole
        -- The sequence of a column goes with its table.
        and not exists (select from pg_depend d
                         where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i', 'e'))
     union all
     select format('alter routine %s owner to ${role}', p.oid::regprocedure)
       from pg_proc p join schemas on schemas.oid = p.pronamespace where p.proowner = $1::regrole
     union all
     select format('alter type %s owner to ${role}', t.oid::regtype)
       from pg_type t join schemas on schemas.oid = t.typnamespace
      where t.typowner = $1::regrole and t.typtype in ('d', 'e')`,
    [owner],
  );
  return rows.map(({ statement }) => statement);
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
