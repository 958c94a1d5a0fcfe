import pg from "pg";
import { createDatabase } from "../../packages/server/src/postgres/database.ts";
import { newApiKey, storeApiKey } from "../../packages/server/src/service/access/api-key-service.ts";
import { createTeam } from "../../packages/server/src/service/people/team-service.ts";
import { API_KEY } from "./api.ts";
import type { Postgres } from "./postgres.ts";

export interface Team {
  readonly id: number;
  readonly key: string;
}

/** The team that the first node has made, and another beside it. */
export async function openTeams(
  postgres: Postgres,
): Promise<{ readonly main: Team; readonly neighbour: Team }> {
  const [own, ...others] = await postgres.query<{ id: number }>("select id from teams");
  if (own === undefined || others.length > 0) throw new Error("A new server has one team");
  return { main: { id: own.id, key: API_KEY }, neighbour: await addTeam(postgres, "Neighbour") };
}

/** One more team, and a key of it. */
export async function addTeam(postgres: Postgres, name: string): Promise<Team> {
  const pool = new pg.Pool({ ...postgres.connection, max: 1 });
  try {
    const database = createDatabase(pool);
    const id = await database.transaction((sql) => createTeam(sql, name, "enterprise"));
    const key = newApiKey("live");
    await storeApiKey(database, id, "Theirs", key);
    return { id, key };
  } finally {
    await pool.end();
  }
}
