import type { Requester } from "../../../src/domain/identity/principal.ts";
import type { Role } from "../../../src/domain/identity/role.ts";
import { formatId } from "../../../src/domain/public-id.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import { createTeam } from "../../../src/service/people/team-service.ts";
import { ensureMember } from "../../../src/store/identity/members.ts";
import { createTestDatabase } from "../../test-database.ts";
import { principalOf } from "../../test-principal.ts";
import type { TextDatabase } from "../../test-sql.ts";

/** A signed-in person: the requester always knows who it is. */
export interface Person extends Requester {
  readonly userId: string;
}

export interface AuditLine {
  readonly action: string;
  readonly requester: string;
  readonly target: string;
  readonly detail: unknown;
}

/** Teams and people on a database of their own. */
export interface TeamScene {
  readonly database: TextDatabase;
  /** Connections that nobody else waits for. */
  open(max: number): TextDatabase;
  newTeam(name?: string): Promise<number>;
  /** Makes the person a member and signs it in, with the role it has at this moment. */
  join(teamId: number, email: string, role: Role): Promise<Person>;
  roles(teamId: number): Promise<Record<string, Role>>;
  /** What the audit log of the team says, the oldest first. */
  log(teamId: number): Promise<AuditLine[]>;
  drop(): Promise<void>;
}

export async function openTeamScene(): Promise<TeamScene> {
  const test = await createTestDatabase();
  const { database } = test;
  return {
    database,
    open: test.open,
    drop: test.drop,
    newTeam: (name = "Acme") => database.transaction((sql) => createTeam(sql, name, "free")),
    async join(teamId, email, role) {
      const userId = await ensureMember(database, teamId, newUuid(), email, role);
      const id = formatId("user", userId);
      return { ...principalOf(teamId, { kind: "session", id, name: email, role }), userId };
    },
    async roles(teamId) {
      const rows = await database.rows<{ email: string; role: Role }>(
        `select u.email, m.role from team_members m join users u on u.id = m.user_id
          where m.team_id = $1 order by u.email`,
        [teamId],
      );
      return Object.fromEntries(rows.map(({ email, role }) => [email, role]));
    },
    log: (teamId) =>
      database.rows<AuditLine>(
        `select action, actor_name as requester, target, detail from audit_events
          where team_id = $1 order by at, id`,
        [teamId],
      ),
  };
}
