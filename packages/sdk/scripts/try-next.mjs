// Installs the packed SDK with the newest Next.js, builds the route handlers of examples/ and sends them a signed request:
//
//   node packages/sdk/scripts/try-next.mjs [directory]
//
// Not among the tests: Next.js takes a third of a gigabyte. It needs a registry. A directory that is given is kept.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const kept = process.argv[2];
const home = kept ?? mkdtempSync(join(tmpdir(), "bellhop-next-"));
const secret = `whsec_${Buffer.from("a secret of the team").toString("base64")}`;
const run = (command, args, cwd = home) =>
  execFileSync(command, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });

try {
  mkdirSync(home, { recursive: true });
  const packing = [
    "pack",
    "--silent",
    "--ignore-scripts=false",
    `--pack-destination=${home}`,
    "-w",
    "@bellhop/sdk",
  ];
  const tarball = String(run("npm", packing, root))
    .trim()
    .split("\n")
    .at(-1);
  writeFileSync(join(home, "package.json"), '{ "name": "try", "private": true }');
  run("npm", [
    "install",
    `./${tarball}`,
    "next",
    "react",
    "react-dom",
    "typescript@5",
    "@types/node@20",
    "@types/react",
  ]);
  cpSync(join(root, "examples/next-route-handler/app"), join(home, "app"), { recursive: true });
  writeFileSync(
    join(home, "app/layout.tsx"),
    "export default ({ children }: { children: React.ReactNode }) => children;\n",
  );
  // Checks types too, and loads the routes, here without any secret.
  run("npx", ["next", "build"]);
  await check();
  console.log("Next.js built the routes and verified calls");
} finally {
  if (kept === undefined) rmSync(home, { recursive: true, force: true });
}

async function check() {
  const next = spawn(
    process.execPath,
    ["node_modules/next/dist/bin/next", "start", "-p", "0", "-H", "127.0.0.1"],
    {
      cwd: home,
      env: { ...process.env, BELLHOP_SIGNING_SECRET: secret },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    const url = await new Promise((resolve, reject) => {
      let printed = "";
      next.stdout.on("data", (chunk) => {
        printed += chunk;
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
        if (found && printed.includes("Ready")) resolve(found);
      });
      next.on("exit", () => reject(new Error(`Next.js ended: ${printed}`)));
    });
    const body = '{ "user" : 42.0 }';
    const at = new Date();
    const signed = {
      "webhook-id": "task_1",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": new Webhook(secret).sign("task_1", at, body),
    };
    for (const [headers, status] of [
      [signed, 200],
      [{}, 401],
    ]) {
      const answer = await fetch(`${url}/api/welcome`, { method: "POST", body, headers });
      if (answer.status !== status) throw new Error(`${answer.status} ${await answer.text()}, not ${status}`);
    }
  } finally {
    next.kill();
  }
}
