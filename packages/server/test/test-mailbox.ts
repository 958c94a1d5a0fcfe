import { once } from "node:events";
import type { AddressInfo } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { until } from "./patience.ts";

/** A real SMTP server on this machine that keeps what it is sent. */
export interface TestMailbox {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** How many connections were opened. */
  readonly connections: number;
  /** The reply codes for the next mails, instead of taking them. */
  readonly refusals: number[];
  /** Resolves once this many mails have come. */
  received(count: number): Promise<ReceivedMail[]>;
  close(): Promise<void>;
}

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly isSecure: boolean;
  readonly user: string | null;
  readonly raw: string;
  readonly content: Email;
}

export async function startTestMailbox(options: SMTPServerOptions = {}): Promise<TestMailbox> {
  const mails: ReceivedMail[] = [];
  const refusals: number[] = [];
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    closeTimeout: 1,
    disableReverseLookup: true,
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const responseCode = refusals.shift();
        if (responseCode !== undefined) {
          // Servers do repeat what they were sent: nothing of it may be believed, or logged.
          done(Object.assign(new Error(`refused ${Buffer.concat(chunks)}`.slice(0, 400)), { responseCode }));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          isSecure: session.secure,
          user: session.user === undefined ? null : String(session.user),
          raw: Buffer.concat(chunks).toString(),
          content: await PostalMime.parse(Buffer.concat(chunks)),
        });
        done();
      });
    },
    ...options,
  });
  server.on("error", () => {});
  const listening = server.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  return {
    port,
    mails,
    refusals,
    get connections() {
      return connections;
    },
    async received(count) {
      await until(() => mails.length >= count, { what: () => `${count} mails; ${mails.length} have come` });
      return mails;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
