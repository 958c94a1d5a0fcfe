import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { hashSecret } from "../../../src/service/access/secret-hash.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import { createTeam } from "../../../src/service/people/team-service.ts";
import { removeExpiredCredentials } from "../../../src/store/identity/expired-credentials.ts";
import { ensureUser } from "../../../src/store/identity/users.ts";
import { createTestDatabase, type TestDatabase } from "../../test-database.ts";
import type { TextDatabase } from "../../test-sql.ts";

const TABLES = ["invitations", "sign_in_links", "sessions", "oauth_tokens", "oauth_codes"] as const;

describe("expired credentials", () => {
  let test: TestDatabase;
  let database: TextDatabase;
  let teamId: number;
  let userId: string;
  const applicationId = newUuid();
  before(async () => {
    test = await createTestDatabase();
    database = test.database;
    teamId = await database.transaction((sql) => createTeam(sql, "Acme", "free"));
    userId = await ensureUser(database, newUuid(), "ada@example.com");
    await database.rows(
      `insert into oauth_applications (id, team_id, name, secret_hash, redirect_uris, scopes, grant_types)
       values ($1, $2, 'App', '', '{}', '{}', '{}')`,
      [applicationId, teamId],
    );
  });
  beforeEach(async () => {
    for (const table of TABLES) await database.rows(`delete from ${table}`);
  });
  after(() => test.drop());

  const invite = (expires: string) =>
    database.rows(
      `insert into invitations (id, team_id, email, role, hash, invited_by, expires_at)
       values ($1, $2, $3, 'viewer', $4, 'x', now() + $5::interval)`,
      [newUuid(), teamId, `${newUuid()}@example.com`, hashSecret(newUuid()), expires],
    );
  const link = (expires: string) =>
    database.rows(
      "insert into sign_in_links (email, hash, expires_at) values ($1, $2, now() + $3::interval)",
      [`${newUuid()}@example.com`, hashSecret(newUuid()), expires],
    );
  const session = (expires: string) =>
    database.rows(
      "insert into sessions (hash, user_id, team_id, expires_at) values ($1, $2, $3, now() + $4::interval)",
      [hashSecret(newUuid()), userId, teamId, expires],
    );
  const token = (access: string, refresh: string | null, codeHash: Buffer | null = null) =>
    database.rows(
      `insert into oauth_tokens
         (id, access_hash, application_id, team_id, code_hash, consent_id, consented_at, scopes,
          access_expires_at, refresh_expires_at)
       select $1, $2, $3, $4, c.hash, c.consent_id, c.created_at, '{}', now() + $6::interval, now() + $7::interval
         from (select 1) as one left join oauth_codes c on c.hash = $5`,
      [newUuid(), hashSecret(newUuid()), applicationId, teamId, codeHash, access, refresh],
    );
  async function code(expires: string, replayed = false): Promise<Buffer> {
    const hash = hashSecret(newUuid());
    await database.rows(
      `insert into oauth_codes (hash, application_id, team_id, user_id, scopes, redirect_uri, code_challenge,
                                expires_at, replayed_at, consent_id)
       values ($1, $2, $3, $4, '{}', '', '', now() + $5::interval, case when $6 then now() end, $7)`,
      [hash, applicationId, teamId, userId, expires, replayed, newUuid()],
    );
    return hash;
  }

  async function counts(): Promise<Record<string, number>> {
    const left: Record<string, number> = {};
    for (const table of TABLES) {
      const rows = await database.rows<{ n: number }>(`select count(*)::integer as n from ${table}`);
      left[table] = rows[0]?.n ?? 0;
    }
    return left;
  }

  it("are removed after the grace period of their kind; valid ones stay", async () => {
    for (const make of [invite, link, session]) {
      await make("-1 second");
      await make("1 minute");
    }
    await code("-25 hours");
    await code("-23 hours");
    await token("-25 hours", null);
    await token("-23 hours", null);
    await token("-25 hours", "-24 hours -1 second");
    await token("-25 hours", "1 day");

    const removed = await removeExpiredCredentials(database, 100);

    assert.equal(removed, 6);
    assert.deepEqual(await counts(), {
      invitations: 1,
      sign_in_links: 1,
      sessions: 1,
      oauth_tokens: 2,
      oauth_codes: 1,
    });
    assert.equal(await removeExpiredCredentials(database, 100), 0);
  });

  it("are removed in batches of the given size until none is left", async () => {
    for (let made = 0; made < 5; made += 1) await session("-1 hour");

    assert.deepEqual(
      [
        await removeExpiredCredentials(database, 2),
        await removeExpiredCredentials(database, 2),
        await removeExpiredCredentials(database, 2),
        await removeExpiredCredentials(database, 2),
      ],
      [2, 2, 1, 0],
    );
  });

  it("include a replayed authorization code only after its last token has expired", async () => {
    const live = await code("-2 days", true);
    await token("1 hour", null, live);
    const spent = await code("-2 days", true);
    await token("-2 days", null, spent);

    await removeExpiredCredentials(database, 100);

    const rows = await database.rows<{ hash: Buffer }>("select hash from oauth_codes");
    assert.deepEqual(
      rows.map(({ hash }) => hash),
      [live],
    );
  });

  it("that another transaction has locked are left for the next round", async () => {
    await invite("-1 hour");
    await database.transaction(async (sql) => {
      await sql.rows("update invitations set expires_at = now() + interval '1 hour'");
      assert.equal(await removeExpiredCredentials(database, 100), 0);
    });

    assert.equal(await removeExpiredCredentials(database, 100), 0);
    assert.equal((await counts()).invitations, 1);
  });
});
