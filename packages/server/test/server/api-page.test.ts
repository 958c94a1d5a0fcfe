import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../places.ts";

const page = readFileSync(join(ROOT, "docs/api.md"), "utf8");
const { paths, components } = JSON.parse(readFileSync(join(ROOT, "openapi.json"), "utf8"));

describe("docs/api.md", () => {
  it("names every endpoint of the reference", () => {
    const endpoints = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `\`${method.toUpperCase()} ${path}\``),
    );
    assert.deepEqual(
      endpoints.filter((endpoint) => !page.includes(endpoint)),
      [],
    );
  });

  for (const model of [
    "CreateTask",
    "CreateDirectTask",
    "Task",
    "DirectTask",
    "Attempt",
    "DirectAttempt",
    "TaskResult",
    "OwnPollConfig",
    "QueueWithStats",
    "QueueStats",
    "CreateToken",
    "SystemNode",
    "SystemState",
  ]) {
    it(`names every field of ${model}`, () => {
      const fields = Object.keys(components.schemas[model].properties);
      assert.deepEqual(
        fields.filter((field) => !page.includes(`\`${field}\``)),
        [],
      );
    });
  }

  it("has no link to a missing heading", () => {
    const anchors = new Set([...page.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => anchorOf(title)));
    const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = ""]) => anchor);
    assert.deepEqual(
      links.filter((anchor) => !anchors.has(anchor)),
      [],
    );
  });
});

/** As Markdown readers make it from a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
