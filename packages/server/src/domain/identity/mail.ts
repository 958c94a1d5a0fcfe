/** A mail to one person, as plain text and HTML. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Queues a mail without waiting: never throws; a mail that cannot be delivered is logged. */
export type SendMail = (mail: Mail) => void;

/** Why a mail was not accepted. */
export interface MailRefusal {
  readonly code: string;
  /** Whether another try may succeed. */
  readonly isTemporary: boolean;
}

/**
 * Tries once to hand a mail to the mail server; null if it was accepted. `messageId` is the same on every try. The
 * caller retries.
 */
export type DeliverMail = (mail: Mail, messageId: string) => Promise<MailRefusal | null>;
