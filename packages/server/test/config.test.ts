import assert from "node:assert/strict";
import { it } from "node:test";
import { readConfig } from "../src/config.ts";

it("starts from a shell that has the variables of the SDK, and refuses other unknown ones", () => {
  const ofClients = { BELLHOP_URL: "http://127.0.0.1:8787", BELLHOP_SIGNING_SECRET: "whsec_AAAA" };
  assert.doesNotThrow(() => readConfig(ofClients));
  assert.throws(() => readConfig({ BELLHOP_SIGNING_KEY: "x" }), /Unknown setting BELLHOP_SIGNING_KEY/);
});
