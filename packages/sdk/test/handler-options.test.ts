import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { BellhopError, SignatureError } from "../src/errors.ts";
import { handler as express } from "../src/express.ts";
import { handler as fastify } from "../src/fastify.ts";
import { handler } from "../src/handler.ts";
import { handler as hono } from "../src/hono.ts";
import { handler as lambda } from "../src/lambda.ts";
import { handler as next } from "../src/next.ts";
import { signedRequest } from "../src/testing.ts";
import { verifyWebhook } from "../src/webhook.ts";

const ONE = `whsec_${Buffer.from("a secret of the team").toString("base64")}`;
const OTHER = `whsec_${Buffer.from("a secret of others").toString("base64")}`;
const THIRD = `whsec_${Buffer.from("of nobody we know").toString("base64")}`;
const ALL = { handler, next, express, fastify, hono, lambda };
const VARIABLES = ["BELLHOP_SIGNING_SECRET", "NEXT_PHASE"] as const;

describe("handler options", () => {
  const before = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
  beforeEach(() => {
    for (const name of VARIABLES) delete process.env[name];
  });
  afterEach(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  const statusFor = async (receive: (request: Request) => Promise<Response>, secret: string) =>
    (await receive(await signedRequest("http://app.test/", { secret }))).status;

  it("throw when the handler is created without a secret", () => {
    for (const [name, make] of Object.entries(ALL)) {
      const missing = {
        name: "BellhopError",
        message: /missing: set BELLHOP_SIGNING_SECRET, or give secret/,
      };
      assert.throws(() => make({ secret: undefined }, () => {}), missing, name);
      assert.throws(() => make(() => {}), missing, name);
    }
  });

  it("refuse an invalid secret without showing it", () => {
    for (const secret of [
      "",
      " ",
      "whsec_",
      "whsec_not base64!",
      [],
      [ONE, ""].slice(1),
      [ONE, "hunter2!"],
      [null],
    ]) {
      assert.throws(
        () => handler({ secret: secret as string }, () => {}),
        (error: Error) =>
          error instanceof BellhopError &&
          /^secret must be/.test(error.message) &&
          !/base64!|hunter/.test(error.message),
        JSON.stringify(secret),
      );
    }
    process.env.BELLHOP_SIGNING_SECRET = "hunter2!";
    assert.throws(() => handler(() => {}), { message: "BELLHOP_SIGNING_SECRET must be whsec_ and base64" });
  });

  it("refuse unknown options, and a missing handler function", () => {
    // @ts-expect-error The types refuse it too.
    const make = () => handler({ secrets: ONE }, () => {});
    assert.throws(make, { message: 'Unknown option "secrets": did you mean "secret"?' });
    // @ts-expect-error
    assert.throws(() => handler({ secret: ONE, maxBytes: "1" }, () => {}), /maxBytes must be a number/);
    // @ts-expect-error
    assert.throws(() => handler({ secret: ONE }), /function that handles calls is missing/);
  });

  it("accept several secrets, any of which may have signed the request", async () => {
    process.env.BELLHOP_SIGNING_SECRET = `${ONE}, ${OTHER}\n`;
    for (const receive of [handler({ secret: [ONE, OTHER] }, () => {}), handler(() => {}), next(() => {})]) {
      assert.equal(await statusFor(receive, ONE), 204);
      assert.equal(await statusFor(receive, OTHER), 204);
      assert.equal(await statusFor(receive, THIRD), 401);
    }
    const { headers } = await signedRequest("http://app.test/", { secret: OTHER });
    assert.deepEqual((await verifyWebhook({ body: "{}", headers })).payload, {});
    assert.deepEqual((await verifyWebhook({ body: "{}", headers, secret: [THIRD, OTHER] })).payload, {});
    await assert.rejects(verifyWebhook({ body: "{}", headers, secret: [ONE, THIRD] }), SignatureError);
  });

  it("allow a missing secret while Next.js builds, but not for a request", async () => {
    process.env.NEXT_PHASE = "phase-production-build";
    const receive = next(() => {});
    const request = await signedRequest("http://app.test/", { secret: ONE });
    await assert.rejects(receive(request.clone()), /BELLHOP_SIGNING_SECRET/);
    process.env.BELLHOP_SIGNING_SECRET = ONE;
    assert.equal((await receive(request)).status, 204);
  });

  it("distinguish a body that was already read from a forged one", async () => {
    const errors: unknown[] = [];
    const receive = next({ secret: ONE, onError: (error) => errors.push(error) }, () => {});
    const request = await signedRequest("http://app.test/", { secret: ONE });
    await request.text();
    assert.equal((await receive(request)).status, 500);
    assert.match(String(errors[0]), /read before the handler/);
  });
});
