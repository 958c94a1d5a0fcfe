import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "../../src/config.ts";
import { mustEncrypt } from "../../src/outbound/mailer.ts";

describe("mail settings", () => {
  it("accept a sender with or without a name, and default to none", () => {
    for (const sender of ["bellhop@example.com", "Bellhop <bellhop@example.com>", "<bellhop@example.com>"])
      assert.equal(readConfig({ BELLHOP_MAIL_FROM: sender }).mailFrom, sender);
    assert.equal(readConfig({}).mailFrom, null);
  });

  it("refuse an invalid sender at the start", () => {
    for (const sender of [
      "Bellhop",
      "Bellhop <>",
      "a@b.com, c@d.com",
      "B\r\nBcc: x@y.com <a@b.com>",
      "a@b.com>",
    ])
      assert.throws(() => readConfig({ BELLHOP_MAIL_FROM: sender }), {
        name: "ConfigError",
        message: "BELLHOP_MAIL_FROM must be a mail address, such as Bellhop <bellhop@example.com>",
      });
  });

  it("accept an SMTP URL with credentials, and no other URL", () => {
    for (const url of ["smtp://127.0.0.1:25", "smtps://user:p%40ss@mail.example.com"])
      assert.equal(readConfig({ BELLHOP_SMTP_URL: url }).smtpUrl, url);
    for (const url of ["mail.example.com", "https://mail.example.com", "smtp:"])
      assert.throws(() => readConfig({ BELLHOP_SMTP_URL: url }), { name: "ConfigError" }, url);
  });

  it("require TLS for a password unless the server is on this machine", () => {
    assert.equal(mustEncrypt("smtp://user:pass@mail.example.com:587"), true);
    assert.equal(mustEncrypt("smtp://mail.example.com:25"), false);
    for (const host of ["127.0.0.1", "localhost", "[::1]"])
      assert.equal(mustEncrypt(`smtp://user:pass@${host}:587`), false, host);
  });
});
