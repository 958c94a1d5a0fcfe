import assert from "node:assert/strict";
import { it } from "node:test";
import { readConfig } from "../src/config.ts";

it("the configuration accepts the SDK's variables, and refuses unknown ones", () => {
  const ofClients = { BELLHOP_URL: "http://127.0.0.1:8787", BELLHOP_SIGNING_SECRET: "whsec_AAAA" };
  assert.doesNotThrow(() => readConfig(ofClients));
  assert.throws(() => readConfig({ BELLHOP_SIGNING_KEY: "x" }), /Unknown setting BELLHOP_SIGNING_KEY/);
});
