import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "../src/config.ts";

const isExposed = (environment: Record<string, string>) => readConfig(environment).exposed;

describe("a server", () => {
  const closed: Record<string, string>[] = [
    {},
    { HOST: "localhost" },
    { HOST: "::1" },
    { HOST: "127.0.0.2", BELLHOP_PUBLIC_URL: "http://127.0.0.1:9999" },
    { BELLHOP_PUBLIC_URL: "http://localhost:8787/" },
    { BELLHOP_PUBLIC_URL: "http://[::1]:8787" },
    { BELLHOP_TRUST_PROXY: " , " },
  ];
  for (const environment of closed) {
    it(`is not exposed with ${JSON.stringify(environment)}`, () =>
      assert.equal(isExposed(environment), false));
  }

  const exposed: Record<string, string>[] = [
    { HOST: "0.0.0.0" },
    { HOST: "::" },
    { HOST: "10.0.0.5" },
    { HOST: "localhost.example.com" },
    { BELLHOP_PUBLIC_URL: "https://bellhop.example.com" },
    { BELLHOP_PUBLIC_URL: "http://127.0.0.1.example.com" },
    { BELLHOP_PUBLIC_URL: "http://[2001:db8::1]" },
    { BELLHOP_TRUST_PROXY: "127.0.0.1" },
    { HOST: "0.0.0.0", BELLHOP_PUBLIC_URL: "http://localhost:8787" },
  ];
  for (const environment of exposed) {
    it(`is exposed with ${JSON.stringify(environment)}`, () => assert.equal(isExposed(environment), true));
  }
});
