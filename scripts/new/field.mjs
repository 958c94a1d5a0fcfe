// The skeleton of a field of tasks: a text that the creator may set and the record shows. It stands beside `metadata`.
import { readFileSync } from "node:fs";

/** What is written and changed for a field of tasks. */
export function newField(name, { camel, snake, server, root }) {
  const migrations = readFileSync(`${server}/src/store/migrate.ts`, "utf8");
  const version =
    Math.max(...Array.from(migrations.matchAll(/\bversion: (\d+)/g), ([, number]) => Number(number))) + 1;
  /** Beside each line that matches: the same line for the new field. */
  const beside = (line, added) => [
    new RegExp(`(?<=^( *)${line}\\n)`, "gm"),
    (indent) => `${indent}${added}\n`,
  ];
  const unset = [beside("metadata: null,", `${camel}: null,`)];
  const row = `  ${camel}: {
    names: ["${snake}", "${camel}"],
    schema: text("TODO: what it is.", "TODO"),
    ask: { default: null },
    show: sometimes(RECORDS, (task) => task.${camel}),
  },
`;
  const test = `import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("${snake} of a task", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  async function recordOf(request: object) {
    const { status, text, body } = await api.call("POST", "/v1/tasks", request);
    assert.equal(status, 201, text);
    const record = await api.call("GET", \`/v1/tasks/\${(body.task ?? body).id}\`);
    return record.body.task ?? record.body;
  }

  it("is in the record of a queue task that sets it, and left out otherwise", async () => {
    const request = { queue: "default", webhook_url: "http://a/" };
    assert.equal((await recordOf({ ...request, ${snake}: "one" })).${snake}, "one");
    assert.equal("${snake}" in (await recordOf(request)), false);
  });

  it("is in the record of a direct task that sets it, and left out otherwise", async () => {
    const request = { targetUrl: "http://a/" };
    assert.equal((await recordOf({ ...request, ${camel}: "one" })).${camel}, "one");
    assert.equal("${camel}" in (await recordOf(request)), false);
  });
});
`;
  return {
    written: {
      [`${server}/test/api/task-${name}.suite.ts`]: test,
    },
    changed: {
      [`${server}/src/api/tasks/task-fields.ts`]: [[/(?=^ {2}metadata: \{$)/m, row]],
      [`${server}/src/domain/task.ts`]: [
        beside("readonly metadata: .*;", `/** TODO: what it is. */\n  readonly ${camel}: string | null;`),
      ],
      [`${server}/src/domain/task-copies.ts`]: [
        beside("metadata: draft\\.metadata,", `${camel}: draft.${camel},`),
        ...unset,
        // A schedule that was stored before the field existed has none.
        beside("metadata: request\\.metadata,", `${camel}: request.${camel} ?? null,`),
        beside("metadata: task\\.metadata,", `${camel}: task.${camel},`),
      ],
      [`${server}/src/store/tasks/task-columns.ts`]: [
        beside('metadata: "jsonb",', `${snake}: "text",`),
        beside("metadata: task\\.metadata \\?\\? undefined,", `${snake}: task.${camel} ?? undefined,`),
        beside("metadata: \\(task\\) => .*,", `${camel}: (task) => task.${camel} === null,`),
      ],
      [`${server}/src/store/migrate.ts`]: [
        [
          /(?<=^export const MIGRATIONS[\s\S]*?)(?=^\];$)/m,
          `  // TODO: what the column is for.
  { version: ${version}, name: "${name.replaceAll("-", " ")}", sql: "alter table tasks add column ${snake} text, alter column ${snake} set statistics 0" },\n`,
        ],
      ],
      [`${server}/test/test-server.ts`]: unset,
      [`${server}/test/test-store.ts`]: [
        [
          /(?<=^export function newTask[\s\S]*?\n( *)metadata: null,\n)/m,
          (indent) => `${indent}${camel}: null,\n`,
        ],
      ],
      [`${server}/test/domain/task-request.test.ts`]: unset,
      [`${server}/test/store/tasks/plain-tasks.test.ts`]: [
        beside("metadata: \\{ task: .*,", `${camel}: { task: { ${camel}: "a" }, isPlain: false },`),
      ],
      [`${root}simulation/world/new-tasks.ts`]: unset,
    },
    next: `replace what says TODO, add rules beyond the schema to packages/server/src/domain/task-request.ts, say in
packages/server/src/store/migrate.ts which nodes may serve beside the migration (oldestNode), then
  npm run generate
  npm run compile && node scripts/test.mjs packages/server/test/api/task-${name}.suite.ts
npm test then asks for the field in docs/api.md.`,
  };
}
