import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "../../src/config.ts";
import { splitDatabaseUrl } from "../../src/postgres/database-url.ts";

describe("DATABASE_URL", () => {
  it("with one server is kept unchanged", () => {
    for (const url of [
      "postgres://bellhop:p%40ss@db.example:5432/bellhop?sslmode=verify-full",
      "postgresql://bellhop@/bellhop?host=%2Frun%2Fpg&port=5433",
      "postgres://db",
    ])
      assert.deepEqual(splitDatabaseUrl(url), [url]);
    assert.deepEqual(splitDatabaseUrl("postgres://db/x?target_session_attrs=any"), ["postgres://db/x"]);
  });

  it("with several servers is split into one URL per server", () => {
    assert.deepEqual(
      splitDatabaseUrl(
        "postgres://me:a%2Cb@one:1,[::1]:2,three/db?target_session_attrs=read-write&sslmode=require",
      ),
      [
        "postgres://me:a%2Cb@one:1/db?sslmode=require",
        "postgres://me:a%2Cb@[::1]:2/db?sslmode=require",
        "postgres://me:a%2Cb@three/db?sslmode=require",
      ],
    );
    assert.deepEqual(splitDatabaseUrl("postgres://me@/db?host=/a,/b&port=1,2"), [
      "postgres://me@/db?host=%2Fa&port=1",
      "postgres://me@/db?host=%2Fb&port=2",
    ]);
    assert.deepEqual(splitDatabaseUrl("postgres://me@/db?host=a,b&port=6432"), [
      "postgres://me@/db?host=a&port=6432",
      "postgres://me@/db?host=b&port=6432",
    ]);
  });

  it("is refused at the start when it is contradictory, without its password in the error", () => {
    for (const [url, reason] of [
      ["postgres://me:secret@a,,b/db", /one of them has no host/],
      ["postgres://me:secret@/db?host=a,b&port=1,2,3", /one port for all of them/],
      ["postgres://me:secret@a,b/db?target_session_attrs=read-only", /Bellhop needs to write/],
    ] as const)
      assert.throws(
        () => readConfig({ DATABASE_URL: url }),
        (error: Error) => reason.test(error.message) && !error.message.includes("secret"),
      );
  });
});
