import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { inspect } from "node:util";
import { ConfigError, readConfig } from "../../src/config.ts";
import { openKeyFile } from "../../src/vault/key-file.ts";
import { type KeyRing, parseKeyRing } from "../../src/vault/key-ring.ts";

const key = randomBytes(32).toString("base64");
const other = randomBytes(32).toString("base64");

const exported = (ring: KeyRing, id: string) => ring.find(id)?.key.export().toString("base64");

describe("the key ring", () => {
  it("encrypts with the first key and decrypts with all of them", () => {
    const ring = parseKeyRing(`2026-03:${key},old:${other}`);

    assert.equal(ring.sealing.id, "2026-03");
    assert.deepEqual(ring.ids, ["2026-03", "old"]);
    assert.equal(exported(ring, "2026-03"), key);
    assert.equal(exported(ring, "old"), other);
    assert.equal(ring.find("none"), undefined);
  });

  it("accepts spaces, line breaks, base64url and missing padding", () => {
    const loose = key.replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
    const ring = parseKeyRing(`\n a:${loose} ,\n\nb:${other}\n`);

    assert.deepEqual(ring.ids, ["a", "b"]);
    assert.equal(exported(ring, "a"), key);
  });

  it("names the position of an invalid entry, and never its content", () => {
    const cases: [string, RegExp][] = [
      ["", /holds no key/],
      [" , ", /holds no key/],
      [key, /entry 1 has no colon/],
      [`a:${key},${other}`, /entry 2 has no colon/],
      [`${key}:a`, /must have ids of 1 to 32 .* entry 1/],
      [`:${key}`, /must have ids of 1 to 32 .* entry 1/],
      [`a b:${key}`, /must have ids of 1 to 32 .* entry 1/],
      [`a:${key}x`, /must have keys of 32 bytes in base64: see entry 1/],
      [`a:${key.slice(4)}`, /must have keys of 32 bytes in base64: see entry 1/],
      [`a:${randomBytes(16).toString("base64")}`, /must have keys of 32 bytes/],
      [`a:${randomBytes(32).toString("hex")}`, /must have keys of 32 bytes/],
      [`a:${key},b:`, /see entry 2/],
      [`a:${key},a:${other}`, /gives two keys the same id/],
    ];
    for (const [text, expected] of cases) {
      assert.throws(
        () => parseKeyRing(text),
        (error: Error) => {
          assert.match(error.message, expected);
          const shown = inspect(error, { showHidden: true });
          for (const piece of text.split(/[:,]/))
            assert.ok(piece.length < 16 || !shown.includes(piece), shown);
          return true;
        },
      );
    }
  });

  it("shows no key when it is printed (promise G)", () => {
    const ring = parseKeyRing(`a:${key}`);
    const shown = inspect(ring, { depth: 10, showHidden: true }) + JSON.stringify(ring);

    for (const encoding of ["base64", "hex", "base64url"] as const) {
      assert.ok(!shown.includes(Buffer.from(key, "base64").toString(encoding)));
    }
  });
});

describe("BELLHOP_VAULT_KEYS", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "bellhop-vault-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("is a key ring, or off, or not set", () => {
    const read = (value?: string) => readConfig({ BELLHOP_VAULT_KEYS: value }).vaultKeys;

    assert.equal(read(), null);
    assert.equal(read(""), null);
    assert.equal(read("off"), "off");
    assert.deepEqual(typeof read(`a:${key}`) === "object" && (read(`a:${key}`) as KeyRing).ids, ["a"]);
    assert.deepEqual(readConfig({ BELLHOP_VAULT_KEYS: "off" }).withoutEffect, []);
  });

  it("may be given by a file", async () => {
    await writeFile(join(dir, "keys"), `a:${key}\nb:${other}\n`);
    const config = readConfig({ BELLHOP_VAULT_KEYS_FILE: join(dir, "keys") });

    assert.deepEqual((config.vaultKeys as KeyRing).ids, ["a", "b"]);
  });

  it("is refused at the start with one line that does not show the key", () => {
    assert.throws(
      () => readConfig({ BELLHOP_VAULT_KEYS: key }),
      (error: Error) =>
        error instanceof ConfigError &&
        error.message === "BELLHOP_VAULT_KEYS must be id:base64key, and entry 1 has no colon" &&
        !inspect(error).includes(key),
    );
  });
});

describe("the generated vault key", () => {
  let dir: string;
  let umask: number;
  beforeEach(async () => {
    umask = process.umask(0);
    dir = await mkdtemp(join(tmpdir(), "bellhop-vault-"));
  });
  afterEach(async () => {
    process.umask(umask);
    await rm(dir, { recursive: true, force: true });
  });
  const mode = async () => ((await stat(join(dir, "vault-keys"))).mode & 0o777).toString(8);

  it("is created once, readable only by its owner, and reused", async () => {
    const made = await openKeyFile(dir);
    assert.equal(await mode(), "600");
    const found = await openKeyFile(dir);

    assert.equal(await mode(), "600");
    assert.deepEqual(await readdir(dir), ["vault-keys"]);
    assert.deepEqual(found.ids, made.ids);
    assert.equal(exported(found, found.sealing.id), exported(made, made.sealing.id));
  });

  it("differs between directories, as does its id", async () => {
    const second = await mkdtemp(join(tmpdir(), "bellhop-vault-"));
    const [a, b] = [await openKeyFile(dir), await openKeyFile(second)];
    await rm(second, { recursive: true });

    assert.notEqual(a.sealing.id, b.sealing.id);
    assert.notEqual(exported(a, a.sealing.id), exported(b, b.sealing.id));
  });

  it("gets mode 0600 again when a restored copy is readable by others", async () => {
    await openKeyFile(dir);
    await chmod(join(dir, "vault-keys"), 0o644);

    await openKeyFile(dir);

    assert.equal(await mode(), "600");
  });

  it("is created even if an earlier start died while writing it", async () => {
    await writeFile(join(dir, "vault-keys.new"), "key-12", { mode: 0o644 });

    await openKeyFile(dir);

    assert.equal(await mode(), "600");
    assert.deepEqual(await readdir(dir), ["vault-keys"]);
  });

  it("may be followed by further keys, whose errors are reported by position", async () => {
    await openKeyFile(dir);
    const path = join(dir, "vault-keys");
    await writeFile(path, `new:${key}\n${await readFile(path, "utf8")}`);
    assert.equal((await openKeyFile(dir)).sealing.id, "new");

    await writeFile(path, `${key}\n`);
    await assert.rejects(openKeyFile(dir), (error: Error) => {
      assert.equal(error.message, `${path} must be id:base64key, and entry 1 has no colon`);
      return true;
    });
  });
});
