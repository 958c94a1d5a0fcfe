import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PROBLEMS, Problem, type ProblemCode } from "../../src/domain/problem.ts";

describe("Problem", () => {
  it("has the registry's text with its parameters", () => {
    const problem = new Problem("queue_not_found", { name: "errands" });

    assert.equal(problem.message, 'Queue "errands" not found');
    assert.equal(problem.status, 404);
    assert.equal(problem.code, "queue_not_found");
  });

  it("inserts a parameter unchanged, even if it looks like a placeholder or pattern", () => {
    for (const name of ["<name>", "<header>", "$&", "$1", "\\", ""]) {
      assert.equal(new Problem("queue_exists", { name }).message, `Queue "${name}" already exists`);
    }
  });

  it("inserts each of several parameters in its place", () => {
    const problem = new Problem("vault_token_unknown", { header: "<token>", token: "tok_1" });

    assert.equal(problem.message, 'Header "<token>" references unknown vault token "tok_1"');
  });

  it("keeps the placeholder of a parameter that is not given", () => {
    assert.equal(new Problem("invalid", {}).message, "<reason>");
    assert.equal(new Problem("task_not_pending").message, "Task is not pending (current: <status>)");
  });

  it("has Retry-After for each 503 except vault_off", () => {
    for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
      const { status, retryAfterSeconds } = new Problem(code);
      assert.equal(retryAfterSeconds, status === 503 && code !== "vault_off" ? 1 : null, code);
    }
    assert.equal(new Problem("overloaded", {}, { retryAfterSeconds: 7 }).retryAfterSeconds, 7);
  });

  it("keeps the cause for the log and the details for the caller", () => {
    const cause = new Error("ECONNREFUSED");
    const details = [{ field: "priority", error: "priority must be an integer between 1 and 10" }];
    const problem = new Problem("invalid", { reason: "no" }, { cause, details });

    assert.equal(problem.cause, cause);
    assert.deepEqual(problem.details, details);
  });

  it("has a status of 400 to 599", () => {
    for (const { status } of Object.values(PROBLEMS)) assert.ok(status >= 400 && status < 600);
  });
});
