import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fastify from "fastify";
import { meterAnswers } from "../../src/api/http/metered-answers.ts";
import type { LoopWork } from "../../src/service/access/loop-share.ts";
import { principalOf } from "../test-principal.ts";

describe("the time to serialize an answer", () => {
  function openApp(teamId: number | null) {
    const spent: [number, LoopWork, boolean][] = [];
    const app = fastify();
    app.decorateRequest("principal", null);
    app.addHook("onRequest", async (request) => {
      request.principal = teamId === null ? null : principalOf(teamId);
    });
    meterAnswers(app, { spent: (team, work, ms) => spent.push([team, work, ms > 0]) });
    const answer = async () => ({ tasks: Array.from({ length: 1_000 }, (_, id) => ({ id })) });
    app.get("/tasks", answer);
    app.post("/tasks", answer);
    return { app, spent };
  }

  it("counts into the team's share of the event loop for a GET", async () => {
    const { app, spent } = openApp(7);
    const { statusCode } = await app.inject({ method: "GET", url: "/tasks" });
    assert.equal(statusCode, 200);
    assert.deepEqual(spent, [[7, "request", true]]);
  });

  it("is not counted for a POST, or without a team", async () => {
    const { app, spent } = openApp(7);
    await app.inject({ method: "POST", url: "/tasks" });
    const { app: stranger, spent: spentByStranger } = openApp(null);
    await stranger.inject({ method: "GET", url: "/tasks" });
    assert.deepEqual([spent, spentByStranger], [[], []]);
  });
});
