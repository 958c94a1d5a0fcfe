// The module boundaries of the server (docs/architecture.md) and of the tools. Fails when a file imports across a boundary,
// when files import each other in a cycle, when one reads a clock instead of a parameter, when one fills an object by names
// that may be a stranger's, or when one is too long to be read at once.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { recordAliases, recordWrites } from "./record-writes.mjs";

const source = fileURLToPath(new URL("../packages/server/src", import.meta.url));

/** What each module may import, besides itself. Packages and node: modules are named where a module may use only some. */
const IMPORT_RULES = {
  // croner is arithmetic on dates: no clock is read but the one that it is given.
  domain: { modules: [], packages: ["croner"] },
  json: { modules: ["domain"], packages: ["node:"] },
  // For the hashes of migrations.
  store: { modules: ["domain"], packages: ["node:crypto"] },
  postgres: { modules: ["domain", "store"], packages: ["pg", "node:"] },
  vault: { modules: ["domain", "store"], packages: ["node:"] },
  outbound: {
    modules: ["domain"],
    packages: ["undici", "ipaddr.js", "nodemailer", "@opentelemetry/api", "node:"],
  },
  service: {
    modules: ["domain", "store", "vault"],
    packages: ["jose", "node:"],
  },
  engine: { modules: ["domain", "json", "store", "vault", "outbound"], packages: [] },
  metrics: { modules: ["domain"], packages: ["prom-client"] },
  tracing: { modules: ["domain", "service", "engine"], packages: ["@opentelemetry/api"] },
  processes: { modules: ["postgres", "service"], packages: ["pino", "node:"] },
  api: {
    modules: ["domain", "json", "service"],
    packages: ["fastify", "@fastify/", "typebox", "pino", "node:"],
  },
  cli: {
    modules: [
      "config.ts",
      "main.ts",
      "version.ts",
      "server",
      "domain",
      "store",
      "postgres",
      "vault",
      "service",
    ],
    packages: ["@bellhop/sdk", "@modelcontextprotocol/server", "commander", "node:"],
  },
};

/**
 * The layers of a feature (packages/server/src/features/<name>/), by the first word of a file's name: `store-firings.ts` is of the
 * store. What each may import from the core. Inside its feature a file imports its own layer and those above it in this list.
 */
const FEATURE_LAYERS = {
  domain: { modules: ["domain"], packages: ["croner"] },
  store: { modules: ["domain", "store"], packages: [] },
  service: {
    modules: ["domain", "store", "vault", "json", "service", "tracing"],
    packages: ["jose", "node:"],
  },
  worker: {
    modules: ["domain", "store", "vault", "json", "outbound", "service", "engine"],
    packages: ["node:"],
  },
  schemas: { modules: ["domain", "api"], packages: ["typebox"] },
  view: { modules: ["domain", "service", "api"], packages: ["node:"] },
  routes: { modules: ["domain", "json", "service", "api"], packages: ["fastify", "typebox", "node:"] },
  index: {
    modules: ["domain", "store", "vault", "json", "outbound", "service", "engine", "api"],
    packages: [],
  },
};
const LAYER_ORDER = Object.keys(FEATURE_LAYERS);
/** The list of features, and what a feature is. */
const FEATURE_ROOT = ["features/feature.ts", "features/features.ts"];

/**
 * Rules inside the layers: for a module named here, the only inner modules of each layer that it may enter. The files at the
 * root of a layer are shared by its inner modules. The task queue knows nothing of the people who use it.
 */
const INNER_RULES = {
  "domain/gate": { domain: [] },
  "domain/json": { domain: [] },
  "domain/poll": { domain: ["json"] },
  "domain/redaction": { domain: [] },
  "store/tasks": { domain: ["gate", "poll"], store: [] },
  "store/vault": { store: [] },
  "store/identity": { domain: ["identity"], store: [] },
  engine: { domain: ["json", "poll", "redaction"], store: ["tasks"] },
  vault: { store: ["vault"] },
  "service/tasks": { store: ["tasks"], service: ["audit", "access"] },
  "service/vault": { store: ["vault"], service: ["audit"] },
  "service/audit": { store: ["identity"], service: [] },
  "service/access": { store: ["identity"], service: ["audit"] },
  "service/people": { store: ["identity", "tasks"], service: ["audit", "access"] },
  "service/oauth": { store: ["identity"], service: ["audit", "access"] },
  "api/tasks": { api: ["http", "schemas"], service: ["tasks"] },
  "api/http": { api: ["schemas"], service: ["access"] },
  "api/schemas": { api: [] },
};

/**
 * The target that ships with Bellhop is a third party, and `bellhop doctor` looks at a server from outside, on the machine
 * of its user: neither is part of a node.
 */
const OUTSIDERS = ["cli/echo.ts", "cli/user/probe.ts", "cli/user/forward.ts", "cli/user/qstash-api.ts"];

/** Files that live in the time they are given, so that a simulation can own it. */
const OWNS_NO_TIME = /^engine\/|^store\/group-commit\.ts$/;
const OWN_TIME =
  /\b(setTimeout|setImmediate|setInterval|queueMicrotask|nextTick|performance|Math\.random|AbortSignal\.timeout)\b|\bDate\.now\b|\bnew Date\(\)|\bDate\(\)/;

/** What a newcomer opens first: the start, and the settings. */
const ROOT_FILES = 5;
const LONGEST_FILE = 300;
/** A longer file says why: one line with this mark. */
const REASON = "longer than 300 lines:";

const complaints = [];
const importsOf = new Map();
for (const name of readdirSync(source, { recursive: true })) {
  if (!name.endsWith(".ts")) continue;
  const text = readFileSync(join(source, name), "utf8");
  const lines = text.split("\n").length;
  if (lines > LONGEST_FILE && !text.includes(REASON)) {
    complaints.push(`${name} has ${lines} lines; split it, or say why with "${REASON} …"`);
  }
  const imports = [...text.matchAll(/(?:from\s+|import\(\s*|import\s+)"([^"]+)"/g)].map(
    ([, target]) => target,
  );
  importsOf.set(
    name,
    imports.filter(isFile).map((target) => fileOf(name, target)),
  );
  if (!name.includes("/")) continue;
  const module = name.split("/")[0];
  // The composition builds everything.
  if (module === "server" || FEATURE_ROOT.includes(name)) continue;
  const rules = module === "features" ? FEATURE_LAYERS[layerOf(name)] : IMPORT_RULES[module];
  if (rules === undefined) {
    complaints.push(
      `${name} belongs to a module without import rules; add it to scripts/check-boundaries.mjs`,
    );
    continue;
  }
  for (const target of imports) {
    const allowed = isFile(target)
      ? module === "features"
        ? mayEnterFromFeature(name, fileOf(name, target), rules.modules)
        : mayEnter(name, fileOf(name, target), rules.modules)
      : rules.packages.some((allowed) => isPackage(target, allowed));
    if (!allowed) complaints.push(`${name} may not import ${target}`);
  }
  if (
    module === "domain" &&
    /\bDate\.now\(|new Date\(\)|Math\.random\(|performance\.now\(|process\./.test(text)
  ) {
    complaints.push(`${name} reads a clock, randomness or the process; the domain is pure`);
  }
  if (OWNS_NO_TIME.test(name) && OWN_TIME.test(text)) {
    complaints.push(`${name} has its own clock, timer or randomness; take them as parameters`);
  }
  if (module !== "outbound" && !OUTSIDERS.includes(name) && /\bfetch\(/.test(text))
    complaints.push(`${name} calls fetch; only outbound talks to the network`);
}
const atRoot = [...importsOf.keys()].filter((name) => !name.includes("/"));
if (atRoot.length > ROOT_FILES)
  complaints.push(`${atRoot.join(", ")}: more than ${ROOT_FILES} files at the root`);
for (const cycle of cycles(importsOf)) complaints.push(`${cycle.join(" → ")} is an import cycle`);

/** The tools, and the other tools that each may import. */
const TOOLS = {
  // Options, processes and PostgreSQL: what several tools share.
  tools: [],
  bench: ["tools"],
  // Its evidence is replayed through the models.
  chaos: ["tools", "explore"],
  attack: ["tools"],
  explore: ["tools"],
  simulation: ["tools", "chaos"],
  prove: ["tools"],
};
const repository = fileURLToPath(new URL("..", import.meta.url));
const toolImports = new Map();
for (const [tool, others] of Object.entries(TOOLS)) {
  for (const file of readdirSync(join(repository, tool), { recursive: true })) {
    if (!file.endsWith(".ts")) continue;
    const name = join(tool, file);
    const text = readFileSync(join(repository, name), "utf8");
    const targets = [...text.matchAll(/(?:from\s+|import\(\s*|import\s+)"(\.[^"]+)"/g)].map(([, target]) =>
      relative(repository, resolve(join(repository, dirname(name)), target)),
    );
    toolImports.set(name, targets);
    for (const target of targets) {
      const [other] = target.split("/");
      if (other in TOOLS && other !== tool && !others.includes(other))
        complaints.push(`${name} may not import ${target}`);
    }
  }
}
for (const cycle of cycles(toolImports)) complaints.push(`${cycle.join(" → ")} is an import cycle`);

/** What the modules of the dashboard may import, besides themselves. */
const DASHBOARD_RULES = {
  data: ["parts"],
  parts: ["data"],
  shell: ["data", "parts"],
  pages: ["data", "parts", "shell"],
};
const page = fileURLToPath(new URL("../packages/dashboard/src", import.meta.url));
for (const name of readdirSync(page, { recursive: true })) {
  if (!/\.tsx?$/.test(name)) continue;
  const text = readFileSync(join(page, name), "utf8");
  const lines = text.split("\n").length;
  if (lines > LONGEST_FILE && !text.includes(REASON)) {
    complaints.push(`dashboard ${name} has ${lines} lines; split it, or say why with "${REASON} …"`);
  }
  // Texts of strangers are shown everywhere: they are text, and nothing else.
  if (/dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|\beval\(/.test(text)) {
    complaints.push(`dashboard ${name} makes markup of text`);
  }
  if (name !== "data/client.ts" && /\bfetch\(/.test(text)) {
    complaints.push(`dashboard ${name} calls fetch; only data/client.ts does`);
  }
  const module = name.split("/")[0];
  const open = DASHBOARD_RULES[module];
  if (open === undefined) continue;
  for (const [, target] of text.matchAll(/from\s+"(\.[^"]+)"/g)) {
    const [other] = relative(page, resolve(join(page, dirname(name)), target)).split("/");
    if (other in DASHBOARD_RULES && other !== module && !open.includes(other)) {
      complaints.push(`dashboard ${name} may not import ${target}`);
    }
  }
}

for (const name of ["server", "sdk", "dashboard"]) {
  const files = join(repository, "packages", name, "src");
  const texts = readdirSync(files, { recursive: true })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => [file, readFileSync(join(files, file), "utf8")]);
  const aliases = recordAliases(texts.map(([, text]) => text));
  for (const [file, text] of texts) {
    for (const line of recordWrites(text, aliases))
      complaints.push(`${name} ${file}:${line} fills an object by names; use a Map and Object.fromEntries`);
  }
}

function isFile(target) {
  return target.startsWith(".");
}

function fileOf(name, target) {
  return relative(source, resolve(join(source, dirname(name)), target));
}

function isPackage(target, allowed) {
  return (
    target === allowed ||
    target.startsWith(`${allowed}/`) ||
    (/[:/]$/.test(allowed) && target.startsWith(allowed))
  );
}

/** The layer of a feature's file: the first word of its name. */
function layerOf(name) {
  return name.split("/").at(-1).replace(/\.ts$/, "").split("-")[0];
}

/** Another feature only by its index; the own one by its own layer and those below it; the core as the layer may. */
function mayEnterFromFeature(name, target, modules) {
  const [module, feature] = target.split("/");
  if (target === "features/feature.ts") return layerOf(name) === "index";
  if (module !== "features") return modules.includes(module);
  if (feature !== name.split("/")[1]) return target.endsWith("/index.ts");
  return LAYER_ORDER.indexOf(layerOf(target)) <= LAYER_ORDER.indexOf(layerOf(name));
}

function mayEnter(name, target, modules) {
  const [module] = name.split("/");
  const [otherModule, ...rest] = target.split("/");
  if (otherModule !== module && !modules.includes(otherModule)) return false;
  const inner = innerRoom(name);
  const rules = INNER_RULES[inner]?.[otherModule] ?? INNER_RULES[module]?.[otherModule];
  const isShared = rest.length < 2 || innerRoom(target) === inner;
  return rules === undefined || isShared || rules.includes(rest[0]);
}

function innerRoom(name) {
  return name.split("/").slice(0, -1).slice(0, 2).join("/");
}

/** Each cycle once, by a walk in depth. */
function cycles(graph) {
  const found = [];
  const done = new Set();
  const path = [];
  const visit = (name) => {
    if (done.has(name)) return;
    const at = path.indexOf(name);
    if (at >= 0) {
      found.push([...path.slice(at), name]);
      return;
    }
    path.push(name);
    for (const target of graph.get(name) ?? []) visit(target);
    path.pop();
    done.add(name);
  };
  for (const name of graph.keys()) visit(name);
  return found;
}

if (complaints.length > 0) {
  console.error(complaints.join("\n"));
  process.exit(1);
}
