import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Handler } from "../src/handler.ts";
import { signedRequest } from "../src/testing.ts";

const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;

describe("the receivers in examples/", () => {
  process.env.BELLHOP_SIGNING_SECRET = secret;

  async function answers(handle: (request: Request) => Promise<Response>, payload: object) {
    const forged = await handle(new Request("http://app.test/", { method: "POST", body: "{}" }));
    assert.equal(forged.status, 401);
    const answer = await handle(await signedRequest("http://app.test/", { secret, payload }));
    return [answer.status, await answer.json(), answer.headers.get("bellhop-no-retry")];
  }

  it("take a signed call in a route handler of Next.js", async () => {
    const { POST } = await import("../../../examples/next-route-handler/app/api/welcome/route.ts");
    assert.deepEqual(await answers(POST, { user: 42 }), [200, { welcomed: 42 }, null]);
    assert.deepEqual(await answers(POST, {}), [422, { error: "user is missing" }, "true"]);
  });

  it("take a signed call in an Express application", async () => {
    const { receiveTasks } = await import("../../../examples/express-receiver/receiver.ts");
    const routes = new Map<string, Handler>();
    receiveTasks({ post: (path, handle) => routes.set(path, handle) }, secret);
    const resize = routes.get("/tasks/resize");
    assert.ok(resize !== undefined && routes.has("/tasks/ended"));
    assert.deepEqual(await answers(resize, { image: "a.png" }), [200, { resized: "a.png" }, null]);
  });
});
