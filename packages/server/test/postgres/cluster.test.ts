import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { ensureCluster } from "../../src/postgres/cluster.ts";
import { chooseIdentity } from "../../src/postgres/identity.ts";
import { makeTempDir, removeDir } from "./scene.ts";

const isLinux = process.platform === "linux";

describe("the cluster in the data directory", () => {
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await makeTempDir();
  });
  afterEach(() => removeDir(dataDir));

  async function ensure(runtimeDir: string): Promise<string> {
    const identity = await chooseIdentity(join(dataDir, "pgdata"));
    return ensureCluster(dataDir, runtimeDir, "18.4.0", identity, () => {});
  }

  it("is refused when another major version of PostgreSQL created it", async () => {
    await mkdir(join(dataDir, "pgdata"));
    await writeFile(join(dataDir, "pgdata", "PG_VERSION"), "17\n");
    await assert.rejects(ensure("/nowhere"), /made by PostgreSQL 17, and this Bellhop brings PostgreSQL 18/);
  });

  it("is synced with syncfs on Linux before it gets its name", { skip: !isLinux }, async () => {
    await mkdir(join(dataDir, "bin"));
    const args = join(dataDir, "args");
    await writeFile(args, "", { mode: 0o666 });
    await chmod(args, 0o666);
    await writeFile(
      join(dataDir, "bin", "initdb"),
      `#!/bin/sh\nls ${dataDir} > ${args}; echo "$@" >> ${args}`,
      {
        mode: 0o755,
      },
    );
    await chmod(dataDir, 0o755);
    await ensure(dataDir);
    const recorded = await readFile(args, "utf8");
    assert.match(recorded, /--sync-method=syncfs/);
    assert.doesNotMatch(recorded, /--no-sync|^pgdata$/m);
    assert.ok((await readdir(dataDir)).includes("pgdata"));
  });

  it("is removed when initdb fails", async () => {
    await mkdir(join(dataDir, "bin"));
    await writeFile(join(dataDir, "bin", "initdb"), "#!/bin/sh\ntouch $2/half; echo no room >&2; exit 1", {
      mode: 0o755,
    });
    await assert.rejects(ensure(dataDir), /could not be set up/);
    assert.deepEqual(await readdir(dataDir), ["bin"]);
  });

  it("is removed when initdb cannot be run, and the error says what is needed", async () => {
    await assert.rejects(ensure("/nowhere"), /could not be run \(spawn .* ENOENT\)\. .* Set DATABASE_URL/);
    assert.deepEqual(await readdir(dataDir), []);
  });
});
