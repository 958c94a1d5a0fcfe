import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "../src/config.ts";

const isExposed = (environment: Record<string, string>) => readConfig(environment).exposed;
const inForce = (environment: Record<string, string>) => {
  const { egress, signUp, signInLinks } = readConfig(environment);
  return [egress.policy, signUp.value, signInLinks.value];
};
const BY_NAME: Record<string, string> = {
  BELLHOP_EGRESS: "any",
  BELLHOP_SIGN_UP: "open",
  BELLHOP_SIGN_IN_LINKS: "log",
};

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
      assert.deepEqual([isExposed(environment), inForce(environment)], [false, ["any", "open", "log"]]));
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
    it(`is exposed with ${JSON.stringify(environment)}, and restricted by default`, () => {
      assert.deepEqual([isExposed(environment), inForce(environment)], [true, ["public", "invited", "mail"]]);
      assert.deepEqual(inForce({ ...environment, ...BY_NAME }), ["any", "open", "log"]);
    });
  }

  it("that is not exposed is restricted if the settings say so", () => {
    const environment = {
      BELLHOP_EGRESS: "public",
      BELLHOP_SIGN_UP: "invited",
      BELLHOP_SIGN_IN_LINKS: "mail",
    };
    assert.deepEqual(inForce(environment), ["public", "invited", "mail"]);
  });

  it("refuses an unknown value of a setting", () => {
    for (const [name, values] of [
      ["BELLHOP_EGRESS", "public, any"],
      ["BELLHOP_SIGN_UP", "invited, open"],
      ["BELLHOP_SIGN_IN_LINKS", "mail, log"],
    ] as const)
      assert.throws(() => readConfig({ [name]: "yes" }), {
        name: "ConfigError",
        message: `${name} must be one of ${values}`,
      });
  });

  it("reports BELLHOP_SIGN_IN_LINKS as without effect when there is a mail server", () => {
    const mailing = { BELLHOP_SMTP_URL: "smtp://127.0.0.1:25", BELLHOP_SIGN_IN_LINKS: "log" };
    assert.deepEqual(readConfig(mailing).withoutEffect, ["BELLHOP_SIGN_IN_LINKS"]);
  });
});
