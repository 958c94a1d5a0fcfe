import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { SignJWT, UnsecuredJWT } from "jose";
import { readConfig } from "../../../src/config.ts";
import { Problem } from "../../../src/domain/problem.ts";
import { rotateSessionKey, turnSessionKeys } from "../../../src/service/access/session-keys.ts";
import {
  createTokenSigner,
  type TokenClaims,
  type TokenSigner,
} from "../../../src/service/access/token-signer.ts";
import { createTestDatabase, type TestDatabase } from "../../test-database.ts";
import type { TextDatabase } from "../../test-sql.ts";

const SET_KEY = "an operator's key of more than 32 characters";
const NOW = new Date("2026-03-01T09:30:00.123Z");
const NOW_SECONDS = Math.floor(NOW.getTime() / 1000);
const DAY_MS = 24 * 3_600_000;

describe("tokens", () => {
  let test: TestDatabase;
  let database: TextDatabase;
  /** The test owns the clocks. */
  let clockMs: number;
  let now: Date;
  before(async () => {
    test = await createTestDatabase();
    database = test.database;
  });
  after(() => test.drop());
  beforeEach(() => {
    clockMs = 1_000_000;
    now = NOW;
  });
  afterEach(() => database.rows("delete from session_keys"));

  const open = (sessionKeys: readonly string[] = [], on: TextDatabase = database): TokenSigner =>
    createTokenSigner({ database: on, sessionKeys, monotonicMs: () => clockMs, now: () => now });
  const tokenOf = (own: Partial<TokenClaims> = {}): TokenClaims => ({
    use: "session",
    id: randomBytes(32).toString("hex"),
    subject: "user_01k9z3mxe5f8hrk3yv5pzq8c2d",
    expiresAt: new Date(NOW.getTime() + DAY_MS),
    ...own,
  });
  const storedKeys = () =>
    database.rows<{ id: string; secret: Buffer }>(
      "select id, secret from session_keys order by created_at desc",
    );
  const age = (id: string, interval: string) =>
    database.rows("update session_keys set created_at = created_at - $2::interval where id = $1", [
      id,
      interval,
    ]);
  const headerOf = (token: string) =>
    JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString());

  it("verify as what they were signed for, under each use", async () => {
    const signer = open();
    for (const use of ["session", "access"] as const) {
      const token = tokenOf({ use });
      assert.deepEqual(await signer.verify(await signer.sign(token)), { use, id: token.id });
    }
  });

  it("have the expected header and claims, and nothing about the team", async () => {
    const text = await open().sign(tokenOf({ use: "access", id: "secret-id" }));
    const [key] = await storedKeys();

    assert.deepEqual(headerOf(text), { alg: "HS256", kid: key?.id, typ: "at+jwt" });
    assert.deepEqual(JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString()), {
      iss: "bellhop",
      aud: "bellhop:api",
      sub: "user_01k9z3mxe5f8hrk3yv5pzq8c2d",
      jti: "secret-id",
      iat: NOW_SECONDS,
      exp: Math.floor((NOW.getTime() + DAY_MS) / 1000),
    });
  });

  it("are refused from the second at which they expire", async () => {
    const signer = open();
    const text = await signer.sign(tokenOf());
    now = new Date(NOW.getTime() + DAY_MS - 1000);
    assert.notEqual(await signer.verify(text), null);
    now = new Date(NOW.getTime() + DAY_MS);
    assert.equal(await signer.verify(text), null);
  });

  describe("that are forged", () => {
    let signer: TokenSigner;
    let key: { id: string; secret: Buffer };
    beforeEach(async () => {
      signer = open();
      await signer.sign(tokenOf());
      const [stored] = await storedKeys();
      assert.ok(stored);
      key = stored;
    });

    const claims = (own: object = {}) => ({
      iss: "bellhop",
      aud: "bellhop:session",
      sub: "user_1",
      jti: "id",
      iat: NOW_SECONDS,
      exp: NOW_SECONDS + 60,
      ...own,
    });
    const header = (own: object = {}) => ({ alg: "HS256", kid: key.id, typ: "session+jwt", ...own });
    const forge = (h: object, c: object, secret: Uint8Array = key.secret, hash = "sha256") => {
      const body = [h, c].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
      return `${body}.${createHmac(hash, secret).update(body).digest("base64url")}`;
    };
    const refuses = async (text: string, why: string) => assert.equal(await signer.verify(text), null, why);

    it("are accepted if they match ours: each forgery below differs in one point", async () => {
      assert.deepEqual(await signer.verify(forge(header(), claims())), { use: "session", id: "id" });
    });

    it("are refused with the algorithm none, in any spelling", async () => {
      for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
        const [head, body] = forge(header({ alg }), claims()).split(".");
        await refuses(`${head}.${body}.`, `alg ${alg}`);
        await refuses(forge(header({ alg }), claims()), `alg ${alg}, signed`);
      }
      await refuses(new UnsecuredJWT(claims()).encode(), "unsecured");
    });

    it("are refused with another algorithm, even with the right key", async () => {
      await refuses(forge(header({ alg: "HS512" }), claims(), key.secret, "sha512"), "HS512");
      await refuses(forge(header({ alg: "HS384" }), claims(), key.secret, "sha384"), "HS384");
      await refuses(forge(header({ alg: "hs256" }), claims()), "lower case");
      for (const alg of ["RS256", "ES256", "PS256", "EdDSA", "dir", undefined, 5, ["HS256"]])
        await refuses(forge(header({ alg }), claims()), `alg ${alg}`);
    });

    it("are refused with a foreign key, whatever kid, jwk or jku they carry", async () => {
      const own = randomBytes(32);
      const jwk = { kty: "oct", k: own.toString("base64url") };
      await refuses(forge(header(), claims(), own), "our kid");
      await refuses(forge(header({ kid: "foreign" }), claims(), own), "foreign kid");
      await refuses(forge(header({ kid: "foreign" }), claims()), "foreign kid, our key");
      await refuses(forge(header({ kid: "foreign", jwk }), claims(), own), "jwk");
      await refuses(forge(header({ jku: "http://127.0.0.1/keys" }), claims(), own), "jku");
      await refuses(forge(header(), claims(), Buffer.alloc(0)), "empty key");
      for (const kid of [undefined, null, 5, {}, "", "__proto__", "../../../dev/null", "' or 1=1 --"])
        await refuses(forge(header({ kid }), claims(), own), `kid ${kid}`);
    });

    it("are refused for another use, audience or issuer", async () => {
      await refuses(forge(header(), claims({ aud: "bellhop:api" })), "access audience");
      await refuses(forge(header({ typ: "at+jwt" }), claims()), "access type");
      for (const typ of ["JWT", "SESSION+JWT", "application/session+jwt", undefined, "", 5, null])
        await refuses(forge(header({ typ }), claims()), `typ ${typ}`);
      for (const aud of ["someone-else", "", [], ["someone-else"], undefined, 5])
        await refuses(forge(header(), claims({ aud })), `aud ${aud}`);
      for (const iss of ["someone-else", "", undefined, ["bellhop"]])
        await refuses(forge(header(), claims({ iss })), `iss ${iss}`);
    });

    it("are refused with a missing or malformed claim", async () => {
      for (const claim of ["sub", "jti", "iat", "exp"])
        await refuses(forge(header(), claims({ [claim]: undefined })), `no ${claim}`);
      for (const exp of ["9999999999", NOW_SECONDS, 0, -1, {}, null])
        await refuses(forge(header(), claims({ exp })), `exp ${exp}`);
      for (const jti of [5, "", {}, [], null]) await refuses(forge(header(), claims({ jti })), `jti ${jti}`);
      await refuses(forge(header(), claims({ nbf: NOW_SECONDS + 60 })), "not yet");
    });

    it("are refused with a crit header", async () => {
      await refuses(forge(header({ crit: ["x"], x: 1 }), claims()), "crit");
      await refuses(forge(header({ crit: ["b64"], b64: false }), claims()), "b64");
    });

    it("are refused when a single character was changed", async () => {
      const good = await signer.sign(tokenOf());
      const [head = "", body = "", signature = ""] = good.split(".");
      const flip = (text: string) => `${text[0] === "A" ? "B" : "A"}${text.slice(1)}`;
      await refuses([flip(head), body, signature].join("."), "header");
      await refuses([head, flip(body), signature].join("."), "claims");
      await refuses([head, body, flip(signature)].join("."), "signature");
      await refuses([head, body, signature.slice(0, -1)].join("."), "shorter signature");
      await refuses([head, body, ""].join("."), "no signature");
      // The last digit has two bits too many: with others there it would be the same signature in another spelling.
      const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      const last = digits.indexOf(signature.slice(-1));
      for (const bits of [1, 2, 3])
        await refuses(`${good.slice(0, -1)}${digits[last ^ bits]}`, "another spelling");
    });

    it("are refused when they are malformed", async () => {
      const longHeader = Buffer.from(JSON.stringify(header({ x: "x".repeat(9000) }))).toString("base64url");
      for (const text of [
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        "a.b.c.d",
        "a.b.c.d.e",
        "e30.e30.",
        `${Buffer.from("null").toString("base64url")}.e30.x`,
        `${Buffer.from("[]").toString("base64url")}.e30.x`,
        `${Buffer.from("\u0000").toString("base64url")}.e30.x`,
        `${await signer.sign(tokenOf())} `,
        `${longHeader}.e30.x`,
        "x".repeat(1_000_000),
      ])
        await refuses(text, text.slice(0, 40));
    });
  });

  it("of a new key all verify when many arrive at once", async () => {
    const node = open();
    await node.sign(tokenOf());
    const other = open();
    clockMs += 500;
    await rotateSessionKey(database);
    const fresh = await Promise.all(Array.from({ length: 5 }, () => other.sign(tokenOf())));

    const verified = await Promise.all(fresh.map((text) => node.verify(text)));

    assert.ok(verified.every((token) => token !== null));
  });

  it("with unknown key ids cause at most one query a second", async () => {
    let looks = 0;
    const counted: TextDatabase = {
      rows: (query, values) => {
        looks += 1;
        return database.rows(query, values);
      },
      transaction: (work) => database.transaction(work),
    };
    const signer = open([], counted);
    await signer.sign(tokenOf());
    const foreign = await new SignJWT({})
      .setProtectedHeader({ alg: "HS256", typ: "session+jwt", kid: "foreign" })
      .sign(randomBytes(32));
    looks = 0;
    for (let round = 0; round < 50; round += 1) assert.equal(await signer.verify(foreign), null);
    assert.equal(looks, 1);
    clockMs += 1000;
    await signer.verify(foreign);
    assert.equal(looks, 2);
  });

  describe("without configured keys", () => {
    it("of one node verify on all others, even if all created the first key at once", async () => {
      const nodes = Array.from({ length: 6 }, () => open([], test.open(2)));
      const texts = await Promise.all(nodes.map((node) => node.sign(tokenOf())));

      assert.equal((await storedKeys()).length, 1);
      for (const node of nodes) for (const text of texts) assert.notEqual(await node.verify(text), null);
    });

    it("survive a rotation: the older key still verifies, the newer one signs", async () => {
      const [a, b] = [open(), open()];
      const before = await a.sign(tokenOf());
      assert.notEqual(await b.verify(before), null);

      const id = await rotateSessionKey(database);
      // Each node learns of it within a minute, and until then signs with the older one.
      assert.notEqual(headerOf(await b.sign(tokenOf())).kid, id);
      clockMs += 60_000;
      const newer = await a.sign(tokenOf());

      assert.equal(headerOf(newer).kid, id);
      for (const node of [a, b, open()])
        for (const text of [before, newer]) assert.notEqual(await node.verify(text), null);
    });

    it("of a key that another node has just created verify at once", async () => {
      const [a, b] = [open(), open()];
      await a.sign(tokenOf());
      await b.sign(tokenOf());
      await rotateSessionKey(database);
      const newer = await open().sign(tokenOf());

      assert.notEqual(await b.verify(newer), null);
    });

    it("get one new signing key once the newest is 30 days old", async () => {
      const signer = open();
      const text = await signer.sign(tokenOf());
      const [first] = await storedKeys();
      assert.ok(first);
      await age(first.id, "29 days 23 hours");
      await turnSessionKeys(database);
      assert.equal((await storedKeys()).length, 1);

      await age(first.id, "2 hours");
      const nodes = Array.from({ length: 4 }, () => test.open(1));
      await Promise.all(nodes.map(turnSessionKeys));

      const keys = await storedKeys();
      assert.equal(keys.length, 2);
      assert.equal(keys[1]?.id, first.id);
      assert.notEqual(await open().verify(text), null);
    });

    it("keep a replaced key until its last token has expired, and no longer", async () => {
      const signer = open();
      await signer.sign(tokenOf());
      const [first] = await storedKeys();
      const second = await rotateSessionKey(database);
      assert.ok(first);
      await age(first.id, "40 days");
      await age(second, "24 hours 59 minutes");
      await turnSessionKeys(database);
      assert.equal((await storedKeys()).length, 2);

      await age(second, "2 minutes");
      await turnSessionKeys(database);
      assert.deepEqual(
        (await storedKeys()).map(({ id }) => id),
        [second],
      );
    });

    it("get no key before the first token, and keep that key afterwards", async () => {
      await turnSessionKeys(database);
      assert.equal((await storedKeys()).length, 0);
      await open().sign(tokenOf());
      await turnSessionKeys(database);
      assert.equal((await storedKeys()).length, 1);
    });

    it("fail with database_away, not as invalid, while the database is away", async () => {
      const away: TextDatabase = {
        rows: async () => {
          throw new Problem("database_away");
        },
        transaction: async () => {
          throw new Problem("database_away");
        },
      };
      const text = await open().sign(tokenOf());
      await assert.rejects(open([], away).verify(text), { code: "database_away" });
    });
  });

  describe("with configured keys", () => {
    it("are signed by the first and verified by all, and nothing is stored", async () => {
      const older = open([SET_KEY]);
      const before = await older.sign(tokenOf());
      const rotated = open(["another key of the operator's, long enough", SET_KEY]);
      const newer = await rotated.sign(tokenOf());

      assert.notEqual(headerOf(before).kid, headerOf(newer).kid);
      assert.notEqual(await rotated.verify(before), null);
      assert.notEqual(await rotated.verify(newer), null);
      assert.equal(await older.verify(newer), null);
      assert.equal((await storedKeys()).length, 0);
    });

    it("refuse a configuration with an empty or short key", () => {
      for (const text of [",", " , ", "short", `${"k".repeat(32)},short`])
        assert.throws(() => readConfig({ BELLHOP_SESSION_KEY: text }), {
          name: "ConfigError",
          message: "BELLHOP_SESSION_KEY must hold keys of at least 32 characters, separated by commas",
        });
      assert.deepEqual(readConfig({}).sessionKeys, []);
    });

    it("carry an id of their key that does not reveal it", async () => {
      const { kid } = headerOf(await open([SET_KEY]).sign(tokenOf()));
      assert.match(kid, /^[0-9a-f]{16}$/);
      assert.equal(headerOf(await open([SET_KEY]).sign(tokenOf())).kid, kid);
    });

    it("no longer verify with keys of the database", async () => {
      const text = await open().sign(tokenOf());
      assert.equal(await open([SET_KEY]).verify(text), null);
    });
  });
});
