// The rooms of the server and the doors between them (docs/architecture.md). Fails when a file imports through a wall,
// or has grown past what can be read in one sitting.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../packages/server/src", import.meta.url));

/** What each room may import, besides itself. Packages and node: modules are named where a room may use only some. */
const DOORS = {
  domain: { rooms: [], packages: [] },
  store: { rooms: ["domain"], packages: [] },
  postgres: { rooms: ["domain", "store"], packages: ["pg", "node:"] },
  vault: { rooms: ["domain", "store"], packages: ["typeid-js", "uuid", "node:"] },
  outbound: { rooms: ["domain"], packages: ["undici", "ipaddr.js", "nodemailer", "node:"] },
  service: {
    rooms: ["domain", "store", "vault"],
    packages: ["typeid-js", "uuid", "jose", "@jmondi/oauth2-server", "node:"],
  },
  engine: { rooms: ["domain", "store", "vault", "outbound"], packages: [] },
  api: {
    rooms: ["domain", "service"],
    packages: ["fastify", "@fastify/", "@scalar/", "typebox", "pino", "node:"],
  },
  cli: {
    rooms: ["config.ts", "main.ts", "version.ts", "domain", "store", "postgres", "vault", "service"],
    packages: ["commander", "node:"],
  },
};

/** The target that ships with Bellhop is a third party: it may call whom it likes. */
const THIRD_PARTY = "cli/echo.ts";

const LONGEST_FILE = 300;
/** A longer file says why: one line with this mark. */
const REASON = "longer than 300 lines:";

const complaints = [];
for (const name of readdirSync(source, { recursive: true })) {
  if (!name.endsWith(".ts")) continue;
  const text = readFileSync(join(source, name), "utf8");
  const lines = text.split("\n").length;
  if (lines > LONGEST_FILE && !text.includes(REASON)) {
    complaints.push(`${name} has ${lines} lines; split it, or say why with "${REASON} …"`);
  }
  const room = name.split("/")[0];
  const doors = DOORS[room];
  if (!name.includes("/")) continue;
  if (doors === undefined) {
    complaints.push(`${name} lies in a room that has no doors; add it to scripts/check-doors.mjs`);
    continue;
  }
  for (const [, target] of text.matchAll(/(?:from|import\(|import)\s*"([^"]+)"/g)) {
    if (!isAllowed(name, room, doors, target)) complaints.push(`${name} may not import ${target}`);
  }
  if (
    room === "domain" &&
    /\bDate\.now\(|new Date\(\)|Math\.random\(|performance\.now\(|process\./.test(text)
  ) {
    complaints.push(`${name} reads a clock, randomness or the process; the domain is pure`);
  }
  if (room !== "outbound" && name !== THIRD_PARTY && /\bfetch\(/.test(text))
    complaints.push(`${name} calls fetch; only outbound talks to the network`);
}

function isAllowed(name, room, doors, target) {
  if (!target.startsWith("."))
    return doors.packages.some(
      (allowed) =>
        target === allowed ||
        target.startsWith(`${allowed}/`) ||
        (/[:/]$/.test(allowed) && target.startsWith(allowed)),
    );
  const other = relative(source, resolve(join(source, dirname(name)), target)).split("/")[0];
  return other === room || doors.rooms.includes(other);
}

if (complaints.length > 0) {
  console.error(complaints.join("\n"));
  process.exit(1);
}
