// The skeleton of a feature. It counts a team's tasks: replace that.
import { existsSync } from "node:fs";

/** What is written and changed for a feature. */
export function newFeature(name, { camel, Pascal, snake, server }) {
  const folder = `${server}/src/features/${name}`;
  if (existsSync(folder)) throw new Error(`packages/server/src/features/${name} exists already`);

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
import { costs, SMALL } from "../../api/http/cost.ts";
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
      // It counts all tasks of the team, so it waits for a turn in the line of scans.
      config: { ...access("tasks:read"), ...costs("scan", { rows: 1_000_000, bytes: SMALL }) },
      schema: {
        operationId: "get${Pascal}",
        tags: ["Tasks"],
        summary: "TODO: what it does",
        description: "TODO: what callers must know.",
        response: { 200: ref(${Pascal}Answer), ...refusals("too_many_scans") },
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

  return {
    written: {
      ...Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text])),
      [`${server}/test/features/${name}.test.ts`]: test,
    },
    changed: {
      [`${server}/src/features/features.ts`]: [
        [/^/, `import { ${camel} } from "./${name}/index.ts";\n`],
        [/(?<=createFeatures[\s\S]*?return \{[\s\S]*?)(?=\n {2}\};)/, `\n    ${camel}: ${camel}(core),`],
      ],
    },
    next: `replace what says TODO, then
  npm run generate
  npm run compile && node scripts/test.mjs packages/server/test/features/${name}.test.ts
npm test then asks for the rows in packages/server/test/server/access-rows.ts and test/api/cost-rows.ts, the SDK method and the section in docs/api.md.`,
  };
}
