// Installs the packed packages into empty directories and uses them there, on several versions of Node.
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const NOBODY = 65534;
const npm =
  process.env.npm_execpath ??
  spawnSync("sh", ["-c", "readlink -f $(command -v npm)"]).stdout.toString().trim();
/** Free ports, and one line of JSON when it is ready. */
const DEV = ["dev", "--port", "0", "--echo-port", "0", "--json"];
const SDK_USE = `
const bellhop = createBellhop();
bellhop.tasks.create({ queue: "demo", webhookUrl: process.env.ECHO + "/welcome", payload: { user: 42 } })
  .then(({ id }) => bellhop.tasks.wait(id))
  .then(({ status }) => console.log(status));
`;

/** A line for each trial, as it ends; throws where one fails. `versions` are major versions, null for no trial at all. */
export async function* tryPackages(tarballs, versions) {
  if (versions === null) return;
  const home = await mkdtemp(join(tmpdir(), "bellhop release "));
  try {
    // PostgreSQL does not run as root, and its user has to enter.
    await chmod(home, 0o755);
    for (const version of [null, ...versions]) {
      const place = join(home, `node ${version ?? "of this machine"}`);
      await mkdir(place);
      const node =
        version === null ? process.execPath : await installNode(join(home, `bin-${version}`), version);
      await install(node, place, tarballs);
      for (const user of process.getuid?.() === 0 ? ["root", "nobody"] : ["this user"])
        yield await use(node, place, user);
      await rm(place, { recursive: true, force: true });
    }
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The binary that the package `node` would install by a script; scripts of packages do not run here. */
async function installNode(place, version) {
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  await mkdir(place);
  await run(
    process.execPath,
    [npm, "install", "--no-audit", "--prefer-offline", "--ignore-scripts", `${name}@${version}`],
    {
      cwd: place,
    },
  );
  return join(place, "node_modules", name, "bin", "node");
}

async function install(node, place, tarballs) {
  const files = [];
  for (const { file } of tarballs) {
    const copy = join(place, file.split("/").at(-1));
    await cp(file, copy);
    files.push(copy);
  }
  const flags = ["install", "--omit=dev", "--no-audit", "--prefer-offline", "--ignore-scripts"];
  await run(node, [npm, ...flags, ...files], { cwd: place, env: environment(node) });
}

function environment(node, more = {}) {
  return {
    PATH: `${dirname(node)}:/usr/bin:/bin`,
    HOME: process.env.HOME ?? "/",
    ...cacheSetting(),
    ...more,
  };
}

/** Where a test or a person has moved npm's cache or its registry to. */
function cacheSetting() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^npm_config_(cache|registry|userconfig)$/.test(name)),
  );
}

/** From the start to its stop: the server, its command, the dashboard, and the SDK as ES module and as CommonJS. */
async function use(node, place, user) {
  const become =
    user === "nobody" ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const bellhop = join(place, "node_modules", ".bin", "bellhop");
  const [file, ...args] = [...become, node, bellhop, ...DEV];
  const dev = start(file, args, { cwd: place, env: environment(node) });
  const { url, apiKey, echo } = await dev.ready;
  const env = environment(node, { BELLHOP_URL: url, BELLHOP_API_KEY: apiKey, ECHO: echo });
  try {
    const { stdout } = await run(node, [bellhop, "tasks", "create", `${echo}/welcome`, "--wait", "--json"], {
      env,
    });
    expect(JSON.parse(stdout).status === "completed", `a task of the command line: ${stdout}`);
    const page = await fetch(url, { headers: { accept: "text/html" } });
    expect(page.ok && (await page.text()).includes("/assets/"), "the dashboard is not there");
    const help = await fetch(`${url}/help/quickstart`);
    expect(help.ok && (await help.text()).includes("Quickstart"), "the documentation is not there");
    await writeFile(join(place, "use.mjs"), `import { createBellhop } from "@bellhop/sdk";${SDK_USE}`);
    await writeFile(join(place, "use.cjs"), `const { createBellhop } = require("@bellhop/sdk");${SDK_USE}`);
    for (const name of ["use.mjs", "use.cjs"]) {
      const printed = await run(node, [join(place, name)], { env });
      expect(printed.stdout === "completed\n", `the SDK by ${name}: ${printed.stdout}`);
    }
  } finally {
    dev.stop("SIGTERM");
  }
  expect((await dev.exited) === 0, "bellhop dev did not stop in order");
  const version = (await run(node, ["--version"])).stdout.trim();
  return `Node ${version} as ${user}: ready after ${dev.seconds()} s; task, dashboard, SDK and stop fine`;
}

/** `npx bellhop dev` as a stranger types it, where npm has every package in its cache and nothing is installed. */
export async function measureNpx(tarball) {
  const empty = await mkdtemp(join(tmpdir(), "bellhop-npx-"));
  await chmod(empty, 0o755);
  const { stdout } = await run(process.execPath, [npm, "config", "get", "cache"]);
  const installs = join(stdout.trim(), "_npx");
  const before = new Set(await readdir(installs).catch(() => []));
  try {
    const args = [
      npm,
      "exec",
      "--yes",
      "--offline",
      "--no-audit",
      `--package=${tarball}`,
      "--",
      "bellhop",
      ...DEV,
    ];
    const dev = start(process.execPath, args, {
      cwd: empty,
      env: environment(process.execPath),
      detached: true,
    });
    await dev.ready;
    dev.stop("SIGINT");
    await dev.exited;
    return `npx bellhop dev: first answer after ${dev.seconds()} s, installed from npm's cache`;
  } finally {
    for (const name of await readdir(installs).catch(() => []))
      if (!before.has(name)) await rm(join(installs, name), { recursive: true, force: true });
    await rm(empty, { recursive: true, force: true });
  }
}

function start(file, args, options) {
  const startedAt = performance.now();
  let readyAt = startedAt;
  const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let [printed, complaints] = ["", ""];
  child.stderr.on("data", (chunk) => {
    complaints += chunk;
  });
  const exited = once(child, "exit").then(([code]) => code);
  const ready = new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      const line = printed.split("\n").find((one) => one.startsWith("{") && one.endsWith("}"));
      if (line === undefined) return;
      readyAt = performance.now();
      resolve(JSON.parse(line));
    });
    exited.then((code) => reject(new Error(`bellhop dev ended with ${code}:\n${printed}${complaints}`)));
  });
  return {
    ready,
    exited,
    seconds: () => ((readyAt - startedAt) / 1000).toFixed(1),
    /** As a terminal does it: to every process of the group, where there is one. */
    stop: (signal) => process.kill(options.detached ? -child.pid : child.pid, signal),
  };
}

function expect(condition, text) {
  if (!condition) throw new Error(text);
}
