import type { Plan } from "../../domain/identity/plan.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import type { Membership, Team } from "../../domain/identity/team.ts";
import type { LimitName } from "../../domain/limits.ts";
import { cutPageAtOffset, offsetOf, type Page, type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import { DEFAULT_QUEUE, QUEUE_DEFAULTS } from "../../domain/queue.ts";
import { insertMember } from "../../store/identity/members.ts";
import { isBoundSession } from "../../store/identity/sessions.ts";
import {
  countOwnedTeams,
  findTeam,
  findTeamOf,
  insertTeam,
  listTeamsOf,
  lockTeam,
  renameTeam,
} from "../../store/identity/teams.ts";
import { findEmail, lockUser } from "../../store/identity/users.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { insertQueue } from "../../store/tasks/queues.ts";
import { readTeamUsage } from "../../store/team-usage.ts";
import { type ChangeAuthor, recordChange } from "../audit/audit.ts";
import { newUuid } from "../new-uuid.ts";
import type { StorageQuota } from "../storage-quota.ts";

/** Each free team has its own rate limit: without a maximum the total rate would be unlimited. */
const MOST_FREE_TEAMS = 10;

export interface Person {
  readonly id: string;
  readonly email: string;
}

export interface TeamService {
  /** The team of the credential, and its person, if any. */
  whoAmI(principal: Principal): Promise<{ team: Team; user: Person | null }>;
  /** The team's use of its plan's counted limits. */
  usage(principal: Principal): Promise<Partial<Record<LimitName, number>>>;
  /** The teams of the signed-in person, in the order of joining; for a session opened by an invitation, only its team. */
  list(principal: Principal, page?: PageRequest): Promise<Page<Membership>>;
  /** Creates a team for the signed-in person; the session stays in its team. */
  create(requester: Requester, name: string): Promise<Team>;
  get(principal: Principal): Promise<Team>;
  rename(requester: Requester, name: string): Promise<Team>;
}

export function createTeamService({
  database,
  storageQuota,
}: {
  readonly database: Database;
  readonly storageQuota?: Pick<StorageQuota, "bytesOf">;
}): TeamService {
  async function get(sql: Sql, teamId: number): Promise<Team> {
    const team = await findTeam(sql, teamId);
    if (team === null) throw new Error("A caller's team is not there");
    return team;
  }

  const isBound = async ({ tokenHash }: Principal) =>
    tokenHash !== null && (await isBoundSession(database, tokenHash));

  return {
    async whoAmI({ teamId, userId, scopes }) {
      const team = await get(database, teamId);
      // An application sees an address only if it may read the list of members.
      const mayKnow = userId !== null && (scopes === null || scopes.has("team:read"));
      const email = mayKnow ? await findEmail(database, userId) : null;
      return { team, user: userId === null || email === null ? null : { id: userId, email } };
    },
    async usage(principal) {
      const { teamId, limits } = principal;
      const usage = await readTeamUsage(database, principal);
      if (storageQuota === undefined || limits.bytesStored === null) return usage;
      return { ...usage, bytesStored: await storageQuota.bytesOf(teamId) };
    },
    async list(principal, page = WHOLE_LIST) {
      const userId = personOf(principal);
      if (!(await isBound(principal)))
        return cutPageAtOffset(await listTeamsOf(database, userId, page), page);
      const own = await findTeamOf(database, userId, { teamId: principal.teamId });
      return cutPageAtOffset(own === null || offsetOf(page) > 0 ? [] : [own], page);
    },
    async create(requester, name) {
      const userId = personOf(requester);
      if (await isBound(requester)) throw new Problem("session_bound");
      return database.transaction(async (sql) => {
        await lockUser(sql, userId);
        if ((await countOwnedTeams(sql, userId, "free")) >= MOST_FREE_TEAMS)
          throw new Problem("team_limit", { most: String(MOST_FREE_TEAMS) });
        return (await createOwnTeam(sql, requester, userId, name)).team;
      });
    },
    get: ({ teamId }) => get(database, teamId),
    rename(requester, name) {
      const { teamId } = requester;
      return database.transaction(async (sql) => {
        const team = await lockTeam(sql, teamId);
        if (team.name === name) return team;
        await renameTeam(sql, teamId, name);
        const target = formatId("team", team.id);
        await recordChange(sql, requester, {
          action: "team.renamed",
          target,
          detail: { from: team.name, to: name },
        });
        return { ...team, name };
      });
    },
  };
}

/** Creates a free team that the person owns. Must run in a transaction. */
export async function createOwnTeam(
  sql: Sql,
  author: Omit<ChangeAuthor, "teamId">,
  userId: string,
  name: string,
): Promise<Pick<Membership, "teamId" | "team">> {
  const teamId = await createTeam(sql, name, "free");
  await insertMember(sql, teamId, userId, "owner");
  const team = await lockTeam(sql, teamId);
  const target = formatId("team", team.id);
  // Recorded in its own log only: its members must not see the person's other teams.
  await recordChange(sql, { ...author, teamId }, { action: "team.created", target, detail: { name } });
  return { teamId, team };
}

/** Every team has the queue `default` from the start. Must run in a transaction. */
export async function createTeam(sql: Sql, name: string, plan: Plan): Promise<number> {
  const teamId = await insertTeam(sql, name, plan, newUuid());
  await insertQueue(sql, teamId, DEFAULT_QUEUE, QUEUE_DEFAULTS);
  return teamId;
}

/** Such routes accept no keys; this protects a new route that forgets to. */
function personOf({ userId }: Principal): string {
  if (userId === null) throw new Problem("session_required");
  return userId;
}
