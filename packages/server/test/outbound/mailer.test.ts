import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, describe, it } from "node:test";
import { readEmail } from "../../src/domain/identity/email.ts";
import type { Mail } from "../../src/domain/identity/mail.ts";
import { createMailer } from "../../src/outbound/mailer.ts";
import { until } from "../patience.ts";
import { startTestMailbox, type TestMailbox } from "../test-mailbox.ts";

const LINK =
  "https://bellhop.example/sign-in/link?token=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const MAIL: Mail = {
  to: "ada@example.com",
  subject: "Sign in to Bellhop",
  text: `Hello,\n\nhere is your link: ${LINK}\n`,
  html: `<p>Hello,</p><p><a href="${LINK}">Sign in</a></p>`,
};

interface Line {
  readonly level: string;
  readonly event: string;
  readonly fields: Record<string, unknown>;
}

describe("the mailer", () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  /** A mailer whose log can be waited for: `ended` resolves with the line that says what became of the next mail. */
  async function open(smtpUrl: string | null, waitsMs: readonly number[] = [0, 0], mayLog = true) {
    const lines: Line[] = [];
    const ends: ((line: Line) => void)[] = [];
    const write = (level: string) => (fields: object, event: string) => {
      const line = { level, event, fields: { ...fields } };
      lines.push(line);
      if (event === "mail.sent" || event === "mail.failed") ends.shift()?.(line);
    };
    const log = { info: write("info"), warn: write("warn"), error: write("error") };
    const mailer = await createMailer({
      smtpUrl,
      mayLog,
      from: "Bellhop <bellhop@example.com>",
      log,
      waitsMs,
    });
    closers.push(mailer.stop);
    const deliver = (mail: Mail = MAIL) =>
      new Promise<Line>((resolve) => {
        ends.push(resolve);
        mailer.send(mail);
      });
    return { mailer, lines, deliver };
  }
  async function openMailbox(options: Parameters<typeof startTestMailbox>[0] = {}): Promise<TestMailbox> {
    const mailbox = await startTestMailbox(options);
    closers.push(mailbox.close);
    return mailbox;
  }
  const assertSilent = (lines: readonly Line[]) => {
    const text = JSON.stringify(lines);
    for (const secret of ["token=", "9f86d081", "ada@", "refused", "Hello"])
      assert.ok(!text.includes(secret), `${secret} in ${text}`);
  };

  it("sends after the request was answered, so that its time does not reveal a mail", async () => {
    const mailbox = await openMailbox();
    const { deliver } = await open(`smtp://127.0.0.1:${mailbox.port}`);
    let isLookedAt = false;
    const mail: Mail = {
      ...MAIL,
      get text() {
        isLookedAt = true;
        return MAIL.text;
      },
    };
    const delivered = deliver(mail);
    // Where an answer is written: after what was awaited, before the loop goes round.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    assert.equal(isLookedAt, false);
    await delivered;
    assert.equal(isLookedAt, true);
  });

  it("delivers text and HTML to the one recipient, marked as auto-generated", async () => {
    const mailbox = await openMailbox();
    const { deliver, lines } = await open(`smtp://127.0.0.1:${mailbox.port}`);
    const line = await deliver();
    const [mail] = mailbox.mails;

    assert.deepEqual([mail?.from, mail?.to], ["bellhop@example.com", ["ada@example.com"]]);
    assert.equal(mail?.content.subject, MAIL.subject);
    assert.equal(mail?.content.from?.name, "Bellhop");
    assert.ok(mail?.content.text?.includes(LINK));
    assert.ok(mail?.content.html?.includes(`href="${LINK}"`));
    assert.match(mail?.raw ?? "", /^Auto-Submitted: auto-generated\r$/m);
    assert.deepEqual([line.event, line.fields], ["mail.sent", { domain: "example.com", tries: 1 }]);
    assertSilent(lines);
  });

  it("sends 30 mails over at most three connections", async () => {
    const mailbox = await openMailbox();
    const { deliver } = await open(`smtp://127.0.0.1:${mailbox.port}`);
    const lines = await Promise.all(
      Array.from({ length: 30 }, (_, index) => deliver({ ...MAIL, to: `user${index}@example.com` })),
    );

    assert.ok(lines.every(({ event }) => event === "mail.sent"));
    assert.equal(new Set(mailbox.mails.flatMap(({ to }) => to)).size, 30);
    assert.ok(mailbox.connections <= 3, `${mailbox.connections} connections`);
  });

  it("authenticates with the decoded credentials of the URL", async () => {
    const mailbox = await openMailbox({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, done) {
        const isRight = username === "bell@hop" && password === "p:ss/w%rd";
        done(isRight ? null : new Error("no"), { user: username });
      },
    });
    const user = `${encodeURIComponent("bell@hop")}:${encodeURIComponent("p:ss/w%rd")}`;
    assert.equal(
      (await (await open(`smtp://${user}@127.0.0.1:${mailbox.port}`)).deliver()).event,
      "mail.sent",
    );
    assert.equal(mailbox.mails[0]?.user, "bell@hop");

    const wrong = await open(`smtp://bell:wrong@127.0.0.1:${mailbox.port}`);
    const line = await wrong.deliver();
    assert.deepEqual([line.event, line.fields.code, line.fields.tries], ["mail.failed", "EAUTH 535", 1]);
    assert.ok(!JSON.stringify(wrong.lines).includes("wrong"));
  });

  it("uses STARTTLS where offered, and refuses a certificate that it cannot verify", async () => {
    const mailbox = await openMailbox({ disabledCommands: [] });
    const trusting = await open(`smtp://127.0.0.1:${mailbox.port}?tls.rejectUnauthorized=false`);
    assert.equal((await trusting.deliver()).event, "mail.sent");
    assert.equal(mailbox.mails[0]?.isSecure, true);

    const careful = await open(`smtp://127.0.0.1:${mailbox.port}`, []);
    const line = await careful.deliver();
    assert.equal(line.event, "mail.failed");
    assert.equal(mailbox.mails.length, 1);
  });

  it("uses TLS from the start with smtps", async () => {
    const mailbox = await openMailbox({ secure: true });
    const { deliver } = await open(`smtps://127.0.0.1:${mailbox.port}?tls.rejectUnauthorized=false`);
    assert.equal((await deliver()).event, "mail.sent");
    assert.equal(mailbox.mails[0]?.isSecure, true);
  });

  it("retries after a temporary failure, and delivers once", async () => {
    const mailbox = await openMailbox();
    mailbox.refusals.push(451, 421);
    const { deliver, lines } = await open(`smtp://127.0.0.1:${mailbox.port}`);
    const line = await deliver();

    assert.deepEqual([line.event, line.fields.tries], ["mail.sent", 3]);
    assert.equal(mailbox.mails.length, 1);
    assert.deepEqual(
      lines.filter(({ event }) => event === "mail.delayed").map(({ fields }) => fields.code),
      ["EMESSAGE 451", "EMESSAGE 421"],
    );
    assertSilent(lines);
  });

  it("gives up after three tries, and logs neither the mail nor the server's text", async () => {
    const mailbox = await openMailbox();
    mailbox.refusals.push(451, 451, 451, 451);
    const { deliver, lines } = await open(`smtp://127.0.0.1:${mailbox.port}`);
    const line = await deliver();

    assert.deepEqual([line.level, line.event], ["error", "mail.failed"]);
    assert.deepEqual(line.fields, { domain: "example.com", code: "EMESSAGE 451", tries: 3 });
    assert.equal(mailbox.refusals.length, 1);
    assertSilent(lines);
  });

  it("does not retry a permanent failure", async () => {
    const mailbox = await openMailbox();
    mailbox.refusals.push(554);
    const { deliver, lines } = await open(`smtp://127.0.0.1:${mailbox.port}`);
    const line = await deliver();

    assert.deepEqual(line.fields, { domain: "example.com", code: "EMESSAGE 554", tries: 1 });
    assertSilent(lines);
    // And the next mail goes through.
    assert.equal((await deliver()).event, "mail.sent");
  });

  it("does not retry an unknown recipient", async () => {
    const mailbox = await openMailbox({
      onRcptTo: (address, _session, done) =>
        done(Object.assign(new Error(`no ${address.address} here`), { responseCode: 550 })),
    });
    const { deliver, lines } = await open(`smtp://127.0.0.1:${mailbox.port}`);
    assert.deepEqual((await deliver()).fields, { domain: "example.com", code: "EENVELOPE 550", tries: 1 });
    assertSilent(lines);
  });

  it("retries when no server listens, and never throws", async () => {
    const { port, close } = await startTestMailbox();
    await close();
    const { deliver, lines } = await open(`smtp://127.0.0.1:${port}`);
    const line = await deliver();

    assert.deepEqual([line.event, line.fields.tries], ["mail.failed", 3]);
    assert.match(String(line.fields.code), /^E[A-Z]+$/);
    assertSilent(lines);
  });

  it("retries when the server closes the connection before its greeting", async () => {
    let connections = 0;
    const rude = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    rude.listen(0, "127.0.0.1");
    await once(rude, "listening");
    closers.push(async () => {
      await new Promise((resolve) => rude.close(resolve));
    });
    const { port } = rude.address() as AddressInfo;
    const line = await (await open(`smtp://127.0.0.1:${port}`, [0])).deliver();

    assert.deepEqual([line.event, line.fields.tries], ["mail.failed", 2]);
    assert.ok(connections >= 2);
  });

  it("drops mails that wait for a retry when it stops, and accepts none afterwards", async () => {
    const mailbox = await openMailbox();
    mailbox.refusals.push(451);
    const { mailer, lines, deliver } = await open(`smtp://127.0.0.1:${mailbox.port}`, [3_600_000]);
    const ended = deliver();
    await untilLogged(lines, "mail.delayed");
    await mailer.stop();
    assert.equal((await ended).event, "mail.failed");

    const late = await deliver();
    assert.deepEqual(late.fields, { domain: "example.com", code: "stopping", tries: 0 });
    assert.equal(mailbox.mails.length, 0);
  });

  it("finishes deliveries in progress before it stops", async () => {
    const mailbox = await openMailbox();
    const { mailer, deliver } = await open(`smtp://127.0.0.1:${mailbox.port}`);
    const ended = deliver();
    await mailer.stop();
    assert.equal((await ended).event, "mail.sent");
    assert.equal(mailbox.mails.length, 1);
  });

  it("logs the link without a server, so that the operator can sign in", async () => {
    const { mailer, lines } = await open(null);
    mailer.send(MAIL);
    const [line] = lines;
    assert.deepEqual([line?.level, line?.event], ["warn", "mail.not_sent"]);
    assert.ok(String(line?.fields.text).includes(LINK));
    await mailer.stop();
  });

  it("logs neither link nor address without a server, when logging links is off", async () => {
    const { mailer, lines } = await open(null, [], false);
    mailer.send(MAIL);
    assert.deepEqual(lines, [
      {
        level: "warn",
        event: "mail.not_sent",
        fields: { domain: "example.com", reason: "BELLHOP_SMTP_URL is not set" },
      },
    ]);
    await mailer.stop();
  });

  it("does not let a value inject a header or a recipient", async () => {
    const mailbox = await openMailbox();
    const { deliver } = await open(`smtp://127.0.0.1:${mailbox.port}`);
    const injected = "\r\nBcc: eve@example.com\r\nX-Injected: yes\r\n\r\nbody";
    assert.equal(readEmail(`ada@example.com${injected}`), null);
    // Even where the reader of addresses were passed by.
    for (const mail of [
      { ...MAIL, subject: `Join “Acme${injected}”` },
      { ...MAIL, to: "ada@example.com, eve@example.com" },
      { ...MAIL, to: `ada@example.com${injected}` },
    ] satisfies Mail[])
      await deliver(mail);

    assert.ok(mailbox.mails.length > 0);
    for (const { to, raw, content } of mailbox.mails) {
      assert.ok(!to.includes("eve@example.com"), to.join());
      const head = raw.slice(0, raw.indexOf("\r\n\r\n"));
      assert.doesNotMatch(head, /^(Bcc|X-Injected):/im);
      assert.equal(content.bcc, undefined);
    }
  });
});

async function untilLogged(lines: readonly Line[], event: string): Promise<void> {
  await until(() => lines.some((line) => line.event === event), { what: () => event });
}
