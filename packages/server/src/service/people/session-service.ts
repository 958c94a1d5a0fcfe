import type { Principal, Requester } from "../../domain/identity/principal.ts";
import type { Team } from "../../domain/identity/team.ts";
import { cutPageAtOffset, type Page, type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import {
  type EndedSession,
  endSession,
  endSessionOf,
  insertSession,
  isBoundSession,
  listSessionsOf,
  type NewSession,
  type SessionOfPerson,
} from "../../store/identity/sessions.ts";
import { findTeamOf } from "../../store/identity/teams.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { hashSecret, newSecret } from "../access/secret-hash.ts";
import type { TokenSigner } from "../access/token-signer.ts";
import { type ChangeAuthor, recordChange } from "../audit/audit.ts";

/** A session token expires after 24 hours. */
const SESSION_MS = 24 * 3_600_000;

export interface OpenedSession {
  /** Shown once; the row holds a hash of the secret in it. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** The answer to a sign-in. Ids are as stored. */
export interface SignedIn {
  readonly session: OpenedSession;
  readonly user: { readonly id: string; readonly email: string };
  readonly team: Pick<Team, "id" | "name" | "plan">;
}

export interface ListedSession extends SessionOfPerson {
  /** It is the current session. */
  readonly isCurrent: boolean;
}

export interface SessionService {
  /** The sessions of the signed-in person, newest first. A session opened by an invitation sees only itself. */
  list(principal: Principal, page?: PageRequest): Promise<Page<ListedSession>>;
  /** Ends a session that `list` shows. Returns the time. */
  endOne(requester: Requester, publicId: string): Promise<Date>;
  /** Ends the session of this credential. Returns the time. */
  end(requester: Requester, credential: string): Promise<Date>;
  /** Ends the session and opens one in another team of the same person, with the same expiry. */
  switchTeam(requester: Requester, credential: string, teamPublicId: string): Promise<SignedIn>;
}

export function createSessionService(deps: {
  readonly database: Database;
  readonly signer: TokenSigner;
}): SessionService {
  const { database, signer } = deps;

  async function hashOf(credential: string): Promise<Buffer> {
    const token = await signer.verify(credential);
    if (token?.use !== "session") throw new Problem("token_invalid");
    return hashSecret(token.id);
  }

  /** Of two concurrent requests, one is refused as if it had come later. */
  async function endRecorded(sql: Sql, requester: Requester, hash: Buffer): Promise<EndedSession> {
    const ended = await endSession(sql, hash);
    if (ended === null) throw new Problem("token_invalid");
    await recordChange(sql, requester, { action: "session.ended", target: requester.id });
    return ended;
  }

  /** Of the session itself: its person, its hash, and whether this is the id of its row. */
  function ownOf({ userId, tokenHash }: Principal) {
    if (userId === null || tokenHash === null) throw new Problem("session_required");
    const own = Buffer.from(tokenHash).toString("hex", 0, 16);
    return { userId, tokenHash, isOwn: (id: string) => id.replaceAll("-", "") === own };
  }

  return {
    async list(principal, page = WHOLE_LIST) {
      const { userId, tokenHash, isOwn } = ownOf(principal);
      const only = (await isBoundSession(database, tokenHash)) ? tokenHash : null;
      const found = await listSessionsOf(database, userId, page, only);
      return cutPageAtOffset(
        found.map((session) => ({ ...session, isCurrent: isOwn(session.id) })),
        page,
      );
    },
    async endOne(requester, publicId) {
      const { userId, tokenHash, isOwn } = ownOf(requester);
      const id = parseId("ses", publicId);
      if (id === null || (!isOwn(id) && (await isBoundSession(database, tokenHash))))
        throw new Problem("session_not_found");
      return database.transaction(async (sql) => {
        const ended = await endSessionOf(sql, userId, id);
        if (ended === null) throw new Problem("session_not_found");
        const author = { ...requester, teamId: ended.teamId };
        await recordChange(sql, author, { action: "session.ended", target: requester.id });
        return ended.endedAt;
      });
    },
    async end(requester, credential) {
      const hash = await hashOf(credential);
      const { endedAt } = await database.transaction((sql) => endRecorded(sql, requester, hash));
      return endedAt;
    },
    async switchTeam(requester, credential, teamPublicId) {
      const { userId, name: email } = requester;
      if (userId === null) throw new Problem("session_required");
      const hash = await hashOf(credential);
      const wanted = parseId("team", teamPublicId);
      const { stored, team } = await database.transaction(async (sql) => {
        const { expiresAt, isBound } = await endRecorded(sql, requester, hash);
        const found = wanted === null ? null : await findTeamOf(sql, userId, { publicId: wanted });
        // Thrown inside the transaction: the current session continues.
        if (found === null) throw new Problem("team_not_found");
        if (isBound) throw new Problem("session_bound");
        const stored = await storeSession(sql, { ...found, userId, expiresAt, isBound });
        await recordOpening(sql, { ...requester, teamId: found.teamId });
        return { stored, team: found.team };
      });
      return { session: await issueToken(signer, stored), user: { id: userId, email }, team };
    },
  };
}

/** A stored session without its token, and the secret for it. */
export interface StoredSession {
  readonly id: string;
  readonly userId: string;
  readonly expiresAt: Date;
}

export async function storeSession(sql: Sql, of: Omit<NewSession, "hash">): Promise<StoredSession> {
  const { userId, teamId, expiresAt, isBound } = of;
  const id = newSecret();
  await insertSession(sql, { userId, teamId, expiresAt, isBound, hash: hashSecret(id) });
  return { id, userId, expiresAt };
}

export function recordOpening(sql: Sql, author: ChangeAuthor): Promise<void> {
  return recordChange(sql, author, { action: "session.opened", target: author.id });
}

/**
 * After the transaction: the signer may have to read its keys, and transactions that wait for a connection while
 * holding one can deadlock.
 */
export async function issueToken(
  signer: TokenSigner,
  { id, userId, expiresAt }: StoredSession,
): Promise<OpenedSession> {
  const token = await signer.sign({ use: "session", id, subject: formatId("user", userId), expiresAt });
  return { token, expiresAt };
}

/** To the second, like the time inside the token: row and token expire together. */
export function sessionExpiry(now: Date): Date {
  return new Date(Math.floor((now.getTime() + SESSION_MS) / 1000) * 1000);
}
