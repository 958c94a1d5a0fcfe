import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, rmdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { resolveDataDir } from "../../src/postgres/data-dir.ts";
import { startEmbeddedPostgres } from "../../src/postgres/embedded.ts";
import { findNobody } from "../../src/postgres/identity.ts";
import { isRoot, makeTempDir, query, recordLog, removeDir } from "./scene.ts";

describe("the data directory", () => {
  let home: string;
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

  before(async () => {
    home = await makeTempDir();
  });
  after(async () => {
    await removeDir(home);
    // Stays when a Bellhop of this machine lives there.
    await rmdir("/var/lib/bellhop").catch(() => {});
  });

  it("is created at the requested path with mode 0700", { skip: isRoot }, async () => {
    const wanted = join(home, "deep", "data");
    assert.deepEqual(await resolveDataDir(wanted), { path: wanted, closed: null });
    assert.equal(await modeOf(wanted), 0o700);
  });

  it("is refused when it is not writable", { skip: isRoot }, async () => {
    const wanted = join(home, "fixed");
    await mkdir(wanted, { mode: 0o500 });
    await assert.rejects(resolveDataDir(wanted), /cannot write to its data directory .*set BELLHOP_DATA_DIR/);
  });

  describe("as root", { skip: !isRoot }, () => {
    it("is created at the requested path with mode 0711, whatever the umask", async () => {
      await chmod(home, 0o755);
      const umask = process.umask(0o077);
      const wanted = join(home, "open", "data");
      const answer = await resolveDataDir(wanted).finally(() => process.umask(umask));
      assert.deepEqual(answer, { path: wanted, closed: null });
      assert.equal(await modeOf(join(home, "open")), 0o711);
      assert.equal(await modeOf(wanted), 0o711);
    });

    it("is refused by name when its file system is read-only", async (t) => {
      const disk = join(home, "disk");
      await mkdir(disk);
      const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "ro,mode=0755", "tmpfs", disk]);
      if (status !== 0) return t.skip("this root may not mount");
      try {
        for (const wanted of [disk, join(disk, "data")])
          await assert.rejects(resolveDataDir(wanted), ({ message }: Error) =>
            message.startsWith(`Bellhop cannot write to its data directory ${wanted}: its file system is`),
          );
      } finally {
        spawnSync("umount", [disk]);
      }
    });

    it("gets mode 0711 when it is closed but empty", async () => {
      const wanted = join(home, "volume");
      await mkdir(wanted, { mode: 0o700 });
      assert.deepEqual(await resolveDataDir(wanted), { path: wanted, closed: null });
      assert.equal(await modeOf(wanted), 0o711);
    });

    it("is not opened when it is closed and has files: another directory is used", async () => {
      const wanted = join(home, "private");
      await mkdir(wanted, { mode: 0o700 });
      await writeFile(join(wanted, "letter"), "");
      const { path, closed } = await resolveDataDir(wanted);
      assert.equal(closed, wanted);
      assert.equal(path, shelterOf(wanted));
      assert.equal(await modeOf(wanted), 0o700);
      await removeDir(path);
    });

    it("is moved to /var/lib/bellhop when PostgreSQL's user cannot reach it, and stays there", async () => {
      const closed = join(home, "closed");
      const wanted = join(closed, "data");
      await mkdir(closed, { mode: 0o700 });
      const { entries, log } = recordLog();

      const server = await startEmbeddedPostgres({ dataDir: wanted, log });
      try {
        assert.equal(server.dataDir, shelterOf(wanted));
        assert.deepEqual(entries[0], {
          event: "postgres.data_dir_moved",
          wanted,
          dataDir: server.dataDir,
          closed,
        });
        assert.deepEqual(await query(server.connection, "select 1"), [1]);
        await chmod(closed, 0o755);
        assert.equal((await resolveDataDir(wanted)).path, server.dataDir);
      } finally {
        await server.stop();
        await removeDir(server.dataDir);
      }
    });
  });

  it("belongs to the user nobody of /etc/passwd", () => {
    assert.deepEqual(findNobody("root:x:0:0::/:\nnobody:x:99:98::/:\n"), { uid: 99, gid: 98 });
    assert.deepEqual(findNobody("nobody:*:-2:-2::/:"), { uid: 4294967294, gid: 4294967294 });
    assert.deepEqual(findNobody(""), { uid: 65534, gid: 65534 });
  });

  function shelterOf(wanted: string): string {
    return join("/var/lib/bellhop", createHash("sha256").update(wanted).digest("hex").slice(0, 8));
  }
});
