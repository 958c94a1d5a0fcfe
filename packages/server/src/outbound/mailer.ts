import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import type { DeliverMail, Mail, SendMail } from "../domain/identity/mail.ts";
import { mailFailureOf } from "./mail-failure.ts";

export interface Mailer {
  readonly send: SendMail;
  /** Null without a mail server. */
  readonly deliver: DeliverMail | null;
  /** Mails in transmission get a few seconds; waiting retries are dropped. */
  stop(): Promise<void>;
}

/** The little that is needed of a logger. */
export interface MailLog {
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
}

/** After the first and the second try. A person waits for this mail; a greylisting server wants at least some seconds. */
const WAITS_MS = [2_000, 15_000];
const MAX_CONNECTIONS = 3;
/** A server that accepts no mail must not fill our memory. */
const MOST_UNDER_WAY = 1_000;
const STOP_GRACE_MS = 5_000;
const TIMEOUTS = {
  dnsTimeout: 10_000,
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 30_000,
};

/**
 * Sends mails through the operator's SMTP server. An undeliverable mail is logged without its content, because a link
 * is a credential. Without a server the whole text is logged if the operator allows it, so that a developer can sign
 * in.
 */
export async function createMailer(deps: {
  readonly smtpUrl: string | null;
  /** Without a server: the whole mail is logged, with the link in it. */
  readonly mayLog: boolean;
  readonly from: string;
  readonly log: MailLog;
  readonly waitsMs?: readonly number[];
}): Promise<Mailer> {
  const { smtpUrl, mayLog, log } = deps;
  if (smtpUrl !== null) return createSmtpMailer({ ...deps, smtpUrl });
  return {
    send: ({ to, subject, text }) =>
      log.warn(
        {
          ...(mayLog ? { to, subject, text } : { domain: domainOf(to) }),
          reason: "BELLHOP_SMTP_URL is not set",
        },
        "mail.not_sent",
      ),
    deliver: null,
    stop: async () => {},
  };
}

async function createSmtpMailer(deps: {
  readonly smtpUrl: string;
  readonly from: string;
  readonly log: MailLog;
  readonly waitsMs?: readonly number[];
}): Promise<Mailer> {
  const { smtpUrl: url, from, log, waitsMs = WAITS_MS } = deps;
  // Not loaded by a server that sends no mail.
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    // Parameters of the address, such as ?requireTLS=false, override the rest.
    url,
    requireTLS: mustEncrypt(url),
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    // The server may have closed an idle connection: not a failure yet.
    maxRequeues: 1,
    // No part of a mail is ever read from a file or fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...TIMEOUTS,
  });
  // Every failure is reported to its mail; without a listener this one would crash the process.
  transport.on("error", () => {});
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();

  async function deliver(mail: Mail): Promise<void> {
    // Composing takes half a millisecond. The request is answered first, so that its time does not reveal whether a
    // mail is sent.
    await nextTurn();
    for (let tries = 1; ; tries += 1) {
      try {
        await transport.sendMail(toMessage(from, mail));
        log.info({ domain: domainOf(mail.to), tries }, "mail.sent");
        return;
      } catch (error) {
        const { code, isTemporary } = mailFailureOf(error);
        const waitMs = waitsMs[tries - 1];
        if (!isTemporary || waitMs === undefined || stopping.signal.aborted) {
          giveUp(mail, code, tries);
          return;
        }
        log.warn({ domain: domainOf(mail.to), code, tries }, "mail.delayed");
        await wait(waitMs, null, { signal: stopping.signal }).catch(() => {});
        if (stopping.signal.aborted) {
          giveUp(mail, code, tries);
          return;
        }
      }
    }
  }

  function giveUp(mail: Mail, code: string, tries: number): void {
    log.error({ domain: domainOf(mail.to), code, tries }, "mail.failed");
  }

  return {
    send(mail) {
      if (stopping.signal.aborted) giveUp(mail, "stopping", 0);
      else if (underWay.size >= MOST_UNDER_WAY) giveUp(mail, "too_many", 0);
      else {
        const delivery = deliver(mail).finally(() => underWay.delete(delivery));
        underWay.add(delivery);
      }
    },
    async deliver(mail, messageId) {
      if (stopping.signal.aborted) return { code: "stopping", isTemporary: true };
      if (underWay.size >= MOST_UNDER_WAY) return { code: "too_many", isTemporary: true };
      try {
        const domain = domainOf(mail.to);
        await transport.sendMail({ ...toMessage(from, mail), messageId: `<${messageId}@bellhop>` });
        log.info({ domain }, "mail.sent");
        return null;
      } catch (error) {
        return mailFailureOf(error);
      }
    },
    async stop() {
      stopping.abort();
      const grace = new AbortController();
      await Promise.race([
        Promise.all(underWay),
        wait(STOP_GRACE_MS, null, { signal: grace.signal }).catch(() => {}),
      ]);
      grace.abort();
      transport.close({ force: true });
    },
  };
}

/**
 * An attacker in between could suppress TLS. If we send a password, we rather send nothing; a local server is not
 * affected.
 */
export function mustEncrypt(smtpUrl: string): boolean {
  const { username, hostname } = new URL(smtpUrl);
  return username !== "" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function toMessage(from: string, { to, subject, text, html }: Mail) {
  return {
    from,
    // As an object: in a text a comma would part two recipients.
    to: { name: "", address: to },
    subject,
    text,
    html,
    // No "out of office" wants an answer to us.
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}
