import type { Plan } from "../../domain/identity/plan.ts";
import type { Role } from "../../domain/identity/role.ts";
import type { OwnLimits } from "../../domain/limits.ts";
import { offsetOf, type PageRequest } from "../../domain/page.ts";
import { type Sql, statement } from "../sql.ts";

export interface NewSession {
  /** Of the secret id inside the token. */
  readonly hash: Buffer;
  readonly userId: string;
  readonly teamId: number;
  readonly expiresAt: Date;
  /** The session cannot switch to another team. */
  readonly isBound: boolean;
}

const INSERT_SESSION = statement(
  "insert_session",
  "insert into sessions (hash, user_id, team_id, expires_at, is_bound) values ($1, $2, $3, $4, $5)",
);

export async function insertSession(sql: Sql, session: NewSession): Promise<void> {
  await sql.rows(INSERT_SESSION, [
    session.hash,
    session.userId,
    session.teamId,
    session.expiresAt,
    session.isBound,
  ]);
}

export interface LiveSession {
  readonly teamId: number;
  readonly teamPublicId: string;
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly plan: Plan;
  readonly customPerMinute: number | null;
  readonly ownLimits: OwnLimits | null;
}

const FIND_SESSION = statement(
  "find_session",
  `select s.team_id as "teamId", t.public_id as "teamPublicId", s.user_id as "userId", u.email, m.role, t.plan,
          t.requests_per_minute as "customPerMinute", t.limits as "ownLimits"
     from sessions s
     join team_members m on m.team_id = s.team_id and m.user_id = s.user_id
     join users u on u.id = s.user_id
     join teams t on t.id = s.team_id
    where s.hash = $1 and s.expires_at > now()`,
  { prepared: true },
);

/** A session is valid while it has not expired and the person is a member of its team. */
export async function findSession(sql: Sql, hash: Buffer): Promise<LiveSession | null> {
  const [row] = await sql.rows<LiveSession>(FIND_SESSION, [hash]);
  return row ?? null;
}

const IS_BOUND_SESSION = statement("is_bound_session", "select 1 from sessions where hash = $1 and is_bound");

export async function isBoundSession(sql: Sql, hash: Uint8Array): Promise<boolean> {
  const rows = await sql.rows(IS_BOUND_SESSION, [hash]);
  return rows.length === 1;
}

export interface EndedSession {
  readonly expiresAt: Date;
  readonly endedAt: Date;
  readonly isBound: boolean;
}

const END_SESSION = statement(
  "end_session",
  `delete from sessions where hash = $1 and expires_at > now()
   returning expires_at as "expiresAt", now() as "endedAt", is_bound as "isBound"`,
);

/** Null if it had already ended: of two concurrent requests, one ends it. */
export async function endSession(sql: Sql, hash: Buffer): Promise<EndedSession | null> {
  const [row] = await sql.rows<EndedSession>(END_SESSION, [hash]);
  return row ?? null;
}

/** A session of a person, without its secret. */
export interface SessionOfPerson {
  /** The first half of the hash, which grants no access. */
  readonly id: string;
  readonly teamId: number;
  readonly teamPublicId: string;
  readonly teamName: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const LIST_SESSIONS_OF = statement(
  "list_sessions_of",
  `select encode(substring(s.hash from 1 for 16), 'hex')::uuid as id, s.team_id as "teamId",
          t.public_id as "teamPublicId", t.name as "teamName", s.created_at as "createdAt",
          s.expires_at as "expiresAt"
     from sessions s
     join team_members m on m.team_id = s.team_id and m.user_id = s.user_id
     join teams t on t.id = s.team_id
    where s.user_id = $1 and s.expires_at > now() and ($4::bytea is null or s.hash = $4)
    order by s.created_at desc, s.hash limit $2 offset $3`,
);

/** A page of the valid sessions and one more, newest first; `only`: the hash of the only one that counts. */
export async function listSessionsOf(
  sql: Sql,
  userId: string,
  page: PageRequest,
  only: Uint8Array | null,
): Promise<readonly SessionOfPerson[]> {
  return sql.rows<SessionOfPerson>(LIST_SESSIONS_OF, [userId, page.limit + 1, offsetOf(page), only]);
}

const END_SESSION_OF = statement(
  "end_session_of",
  `delete from sessions s
    where user_id = $1 and encode(substring(hash from 1 for 16), 'hex')::uuid = $2 and expires_at > now()
      and exists (select from team_members m where m.team_id = s.team_id and m.user_id = s.user_id)
    returning team_id as "teamId", now() as "endedAt"`,
);

/** Null if the person has no such session, or it had ended already. */
export async function endSessionOf(
  sql: Sql,
  userId: string,
  id: string,
): Promise<{ readonly teamId: number; readonly endedAt: Date } | null> {
  const [row] = await sql.rows<{ teamId: number; endedAt: Date }>(END_SESSION_OF, [userId, id]);
  return row ?? null;
}

const END_SESSIONS_OF_MEMBER = statement(
  "end_sessions_of_member",
  "delete from sessions where team_id = $1 and user_id = $2",
);

/** For a member who leaves or is removed. */
export async function endSessionsOfMember(sql: Sql, teamId: number, userId: string): Promise<void> {
  await sql.rows(END_SESSIONS_OF_MEMBER, [teamId, userId]);
}
