import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { createBellhop } from "../src/client.ts";
import { defineTask } from "../src/define-task.ts";
import { BellhopError } from "../src/errors.ts";
import { handler } from "../src/handler.ts";
import { signedRequest } from "../src/testing.ts";

const SECRET = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;
const URL = "https://shop.example/welcome";

const welcome = defineTask({
  queue: "mail",
  webhookUrl: URL,
  maxRetries: 5,
  schema: z.object({ user: z.number(), at: z.string().transform((text) => new Date(text)) }),
});

/** A client whose server answers every request, with the bodies that it received. */
function recorder() {
  const created: unknown[] = [];
  const answer: typeof fetch = async (_, init) => {
    created.push(JSON.parse(String(init?.body)));
    return Response.json({ id: "task_00000000000000000000000000" }, { status: 201 });
  };
  const client = createBellhop({ url: "https://bellhop.example/", apiKey: "bh_live_x", fetch: answer });
  return { created, client };
}

describe("defineTask", () => {
  it("creates a task with its defaults, the overrides and the payload as given", async () => {
    const { created, client } = recorder();
    await welcome.create(client, { user: 1, at: "2026-03-01T09:30:00Z" }, { delay: 60 });
    const payload = { user: 1, at: "2026-03-01T09:30:00Z" };
    assert.deepEqual(created, [{ queue: "mail", webhook_url: URL, max_retries: 5, delay: 60, payload }]);
  });

  it("sends no request when the payload does not match the schema", async () => {
    const { created, client } = recorder();
    // @ts-expect-error: the type of the payload is the schema's input
    const wrong = welcome.create(client, { user: "one", at: "2026-03-01T09:30:00Z" });
    await assert.rejects(wrong, (error) => error instanceof BellhopError && /: user: /.test(error.message));
    assert.deepEqual(created, []);
  });

  it("passes the parsed payload to the handler, and refuses an invalid one without retry", async () => {
    const years: number[] = [];
    const receive = handler(
      { secret: SECRET },
      welcome.handle(({ payload }) => {
        years.push(payload.at.getUTCFullYear());
      }),
    );
    const payload = { user: 1, at: "2026-03-01T09:30:00Z" };
    assert.equal((await receive(await signedRequest(URL, { secret: SECRET, payload }))).status, 204);
    assert.deepEqual(years, [2026]);

    const refused = await receive(await signedRequest(URL, { secret: SECRET, payload: { at: "" } }));
    assert.deepEqual([refused.status, refused.headers.get("bellhop-no-retry")], [422, "true"]);
    assert.match(JSON.stringify(await refused.json()), /"The payload is not valid: user: /);
    assert.deepEqual(years, [2026]);
  });

  it("needs no schema, and then uses the given payload type", async () => {
    const plain = defineTask<{ readonly user: number }>({ queue: "mail", webhookUrl: URL });
    assert.deepEqual(await plain.task({ user: 2 }), { queue: "mail", webhookUrl: URL, payload: { user: 2 } });
    const receive = handler(
      { secret: SECRET },
      plain.handle(({ payload }) => ({ next: payload.user + 1 })),
    );
    const answer = await receive(await signedRequest(URL, { secret: SECRET, payload: { user: 2 } }));
    assert.deepEqual(await answer.json(), { next: 3 });
  });
});
