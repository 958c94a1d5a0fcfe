// Makes the API reference in the server's dist from openapi.json: the document in both forms, and the page that shows it. A running
// server makes none of it, because that would block its event loop for half a second.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "openapi.json");
const target = join(root, "packages", "server", "dist", "reference");
/** Written last. */
const stamp = join(target, "index.html");
const INPUTS = [source, join(root, "node_modules", ".package-lock.json"), fileURLToPath(import.meta.url)];

const PATH = "/docs";
/** What the page consists of, by its path there. */
const PARTS = {
  "/openapi.json": "openapi.json",
  "/openapi.yaml": "openapi.yaml",
  "/js/scalar.js": "scalar.js",
  "/": "index.html",
};

export function isReferenceStale() {
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  return INPUTS.filter((path) => existsSync(path)).some((path) => statSync(path).mtimeMs > builtAt);
}

/** False: it is not there, or older than openapi.json. A build goes on, so that `npm run generate` can replace a broken openapi.json. */
export async function buildReference() {
  try {
    const document = JSON.parse(readFileSync(source, "utf8"));
    const renderer = await createRenderer(document);
    mkdirSync(target, { recursive: true });
    for (const [path, file] of Object.entries(PARTS)) {
      const { statusCode, payload } = await renderer.inject(`${PATH}${path}`);
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`);
      writeFileSync(join(target, file), file === "openapi.yaml" ? quoteUrl(payload, document) : payload);
    }
    return true;
  } catch (error) {
    process.stderr.write(`The API reference is not built: ${error.message}\n`);
    return false;
  }
}

async function createRenderer(content) {
  const { fastify } = await import("fastify");
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const renderer = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  await renderer.register(scalar, {
    routePrefix: PATH,
    configuration: {
      content,
      pageTitle: "Bellhop API",
      orderSchemaPropertiesBy: "preserve",
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: "never",
      persistAuth: false,
      agent: { disabled: true },
    },
  });
  return renderer;
}

/** The server replaces the public URL in the text: as in JSON, it is the beginning of a quoted string. */
function quoteUrl(yaml, { servers: [{ url }] }) {
  return yaml.replace(/: (\S+)$/gm, (line, value) =>
    value.startsWith(url) ? `: ${JSON.stringify(value)}` : line,
  );
}
