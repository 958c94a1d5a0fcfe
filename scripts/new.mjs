// npm run new -- feature <name>: writes the skeleton of a feature with its test, and adds it to features/features.ts. The
// skeleton counts a team's tasks: replace that. CONTRIBUTING.md says what comes next.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = `${root}packages/server`;

const [kind, name = ""] = process.argv.slice(2);
if (kind !== "feature" || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
  console.error(
    "Usage: npm run new -- feature <name>, where the name is in lower case with hyphens: retry-budgets",
  );
  process.exit(2);
}
const folder = `${server}/src/features/${name}`;
if (existsSync(folder)) {
  console.error(`packages/server/src/features/${name} exists already`);
  process.exit(1);
}

const camel = name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const Pascal = camel[0].toUpperCase() + camel.slice(1);
const snake = name.replaceAll("-", "_");

const files = {
  "domain.ts": `/** What the team sees. */
export interface ${Pascal} {
  readonly tasks: number;
}
`,
  "store.ts": `import { type Sql, statement } from "../../store/sql.ts";
import type { ${Pascal} } from "./domain.ts";

const READ_${snake.toUpperCase()} = statement("read_${snake}", "select count(*)::integer as tasks from tasks where team_id = $1");

export async function read${Pascal}(sql: Sql, teamId: number): Promise<${Pascal}> {
  const [row] = await sql.rows<${Pascal}>(READ_${snake.toUpperCase()}, [teamId]);
  return row ?? { tasks: 0 };
}
`,
  "service.ts": `import type { Principal } from "../../domain/identity/principal.ts";
import type { Sql } from "../../store/sql.ts";
import type { ${Pascal} } from "./domain.ts";
import { read${Pascal} } from "./store.ts";

export interface ${Pascal}Service {
  get(principal: Principal): Promise<${Pascal}>;
}

export function create${Pascal}Service({ sql }: { readonly sql: Sql }): ${Pascal}Service {
  return {
    get: ({ teamId }) => read${Pascal}(sql, teamId),
  };
}
`,
  "routes.ts": `import { Type } from "typebox";
import { access } from "../../api/http/access.ts";
import { callerOf } from "../../api/http/auth-hook.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { refusals } from "../../api/schemas/error.ts";
import { model, ref } from "../../api/schemas/field.ts";
import type { ${Pascal}Service } from "./service.ts";

const ${Pascal}Answer = model(
  "${Pascal}Answer",
  "TODO: what it is.",
  { tasks: Type.Integer({ description: "TODO: what the figure means." }) },
  { examples: [{ tasks: 1 }] },
);

export function register${Pascal}Routes(app: Api, ${camel}: ${Pascal}Service): void {
  app.get(
    "/${name}",
    {
      config: access("tasks:read"),
      schema: {
        operationId: "get${Pascal}",
        tags: ["Tasks"],
        summary: "TODO: what it does",
        description: "TODO: what callers must know.",
        response: { 200: ref(${Pascal}Answer), ...refusals() },
      },
    },
    async (request) => ${camel}.get(callerOf(request)),
  );
}
`,
  "index.ts": `import { defineFeature } from "../feature.ts";
import { register${Pascal}Routes } from "./routes.ts";
import { create${Pascal}Service } from "./service.ts";

/** TODO: what the feature does. */
export const ${camel} = defineFeature(({ databases }) => {
  const service = create${Pascal}Service({ sql: databases.api });
  return {
    service,
    routes: [(app) => register${Pascal}Routes(app, service)],
  };
});
`,
};

const test = `import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openTestServer, type TestServer } from "../test-server.ts";

describe("${name.replaceAll("-", " ")}", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer();
  });
  after(() => server.close());

  it("answers a team without tasks", async () => {
    assert.deepEqual(await server.services.features.${camel}.service.get(server.principal), { tasks: 0 });
  });
});
`;

mkdirSync(folder, { recursive: true });
mkdirSync(`${server}/test/features`, { recursive: true });
const written = Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]);
written.push([`${server}/test/features/${name}.test.ts`, test]);
const list = `${server}/src/features/features.ts`;
const listed = readFileSync(list, "utf8")
  .replace(/^/, `import { ${camel} } from "./${name}/index.ts";\n`)
  .replace(/(createFeatures[\s\S]*?return \{[\s\S]*?)(\n {2}\};)/, `$1\n    ${camel}: ${camel}(core),$2`);
written.push([list, listed]);
for (const [path, text] of written) writeFileSync(path, text);
execFileSync("npx", ["biome", "check", "--write", ...written.map(([path]) => path)], {
  cwd: root,
  stdio: "ignore",
});

console.log(`Wrote ${written.map(([path]) => path.slice(root.length)).join("\n      ")}

Next: replace what says TODO, then
  npm run generate
  npm run compile && node scripts/test.mjs packages/server/test/features/${name}.test.ts
npm test then asks for the row in packages/server/test/server/access-rows.ts, the SDK method and the section in docs/api.md.`);
