import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConfigError, readConfig } from "../src/config.ts";

describe("settings", () => {
  const refusal = (environment: Record<string, string>): string => {
    try {
      readConfig(environment);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
    return "";
  };

  for (const [name, hint] of [
    ["BELLHOP_LOG_LEVEL", "; did you mean LOG_LEVEL?"],
    ["BELLHOP_PORT", "; did you mean PORT?"],
    ["BELLHOP_DATABASE_URL", "; did you mean DATABASE_URL?"],
    ["BELLHOP_DIR_DATA", "; did you mean BELLHOP_DATA_DIR?"],
    ["BELLHOP_METRIC_TOKEN", "; did you mean BELLHOP_METRICS_TOKEN?"],
    ["BELLHOP_COLOUR", ""],
    ["BELLHOP_MODE", ""],
  ] as const) {
    it(`refuse ${name} with ${hint === "" ? "no suggestion" : `"${hint.slice(2)}"`}`, () => {
      assert.equal(refusal({ [name]: "x" }), `Unknown setting ${name}${hint}`);
    });
  }

  it("refuse a metrics token of fewer than 16 characters", () => {
    const short = "BELLHOP_METRICS_TOKEN must be at least 16 printable ASCII characters without spaces";
    assert.equal(refusal({ BELLHOP_METRICS_TOKEN: "x" }), short);
    assert.equal(refusal({ BELLHOP_METRICS_TOKEN: "x".repeat(15) }), short);
    assert.equal(refusal({ BELLHOP_METRICS_TOKEN: "x".repeat(16) }), "");
  });
});
