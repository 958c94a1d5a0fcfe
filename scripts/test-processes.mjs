// Which test files share a process, and which of the processes starts first. To start one and load the server takes longer
// than most files do, so the files of a folder are dealt out to a few; the longest start first, so that none is waited for.
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

/** In how many processes the files of a folder and of the folders in it run. Files of other folders have one process each. */
const SHARED = {
  "chaos/checker": 1,
  "packages/dashboard/test": 1,
  "packages/sdk/test": 1,
  "packages/server/test/engine": 3,
  "packages/server/test/postgres": 1,
  "packages/server/test/server": 2,
  "packages/server/test/store": 1,
  // Last: all folders above are in it.
  "packages/server/test": 3,
  tools: 1,
};

/** They change or watch what belongs to the whole process, start servers, or take long. */
const ALONE = [
  "api/api",
  "outbound/egress-guard",
  "outbound/egress-spellings",
  "outbound/tls",
  "sdk/test/options",
  "server/access-matrix",
  "server/backup",
  "server/checkout",
  "server/cli",
  "server/dashboard",
  "server/docs",
  "server/life",
  "server/mcp",
  "server/package",
  "server/processes",
  "server/release",
  "server/retry-on-start",
  "server/silence",
  "server/start",
  "server/user-cli",
  "test/event-serializer-thread",
  "test/layout",
  "json/pool",
  "vault/server",
];

/** What takes longest, the longest first. `test.mjs --times` tells. */
const FIRST = [
  "server/dashboard.test",
  "shared/sdk-1",
  "shared/store-1",
  "shared/engine-1",
  "server/silence.test",
  "api/api.test",
  "shared/server-1",
  "shared/server-2",
  "shared/engine-2",
  "shared/engine-3",
  "shared/postgres-1",
  "shared/test-1",
  "shared/test-2",
  "shared/test-3",
  "simulation/model/model.test",
  "server/start.test",
  "server/user-cli.test",
  "server/access-matrix.test",
  "server/docs.test",
  "chaos/rolling-upgrade.test",
  "server/processes.test",
  "server/retry-on-start.test",
  "server/checkout.test",
  "simulation/simulation.test",
  "server/backup.test",
  "server/package.test",
  "chaos/failover.test",
  "server/cli.test",
  "vault/server.test",
  "server/life.test",
  "server/mcp.test",
];

/** Modules to run, in this order: test files as they were compiled, and such as load several of them. */
export async function planProcesses(files, tree) {
  const alone = files.filter((file) => folderOf(file, tree) === undefined);
  const entries = [...alone];
  const directory = join(tree, "shared");
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory);
  for (const [folder, count] of Object.entries(SHARED)) {
    const own = await bySize(files.filter((file) => folderOf(file, tree) === folder));
    for (let process = 0; process < count; process += 1) {
      const dealt = own.filter((_, index) => index % count === process);
      if (dealt.length === 0) continue;
      const name = folder
        .replace(/^packages\/(server\/(test\/)?)?/, "")
        .replace(/\/test$/, "")
        .replace("/", "-");
      const entry = join(directory, `${name}-${process + 1}.js`);
      if (entries.includes(entry)) throw new Error(`Two folders of tests would share the file ${entry}`);
      // Together: no test runs while another file is still being loaded.
      await writeFile(entry, dealt.map((file) => `import "../${relative(tree, file)}";\n`).join(""));
      entries.push(entry);
    }
  }
  return entries.sort((one, other) => rankOf(one) - rankOf(other));
}

/** Whether a test file, as it is compiled, may run in one process with others. */
export function mayShare(file) {
  return !ALONE.some((each) => file.endsWith(`${each}.test.js`));
}

function folderOf(file, tree) {
  const name = relative(tree, file);
  if (!mayShare(name)) return undefined;
  return Object.keys(SHARED).find((folder) => name.startsWith(`${folder}/`));
}

/** Long files take long: dealt out in this order, each process gets its share of them. */
async function bySize(files) {
  const sized = await Promise.all(files.map(async (file) => ({ file, bytes: (await stat(file)).size })));
  return sized.sort((one, other) => other.bytes - one.bytes).map(({ file }) => file);
}

function rankOf(entry) {
  const rank = FIRST.findIndex((each) => entry.endsWith(`${each}.js`));
  return rank === -1 ? FIRST.length : rank;
}
