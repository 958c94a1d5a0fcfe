/** A mail to one person, as plain text and HTML. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Queues a mail without waiting: never throws; a mail that cannot be delivered is logged. */
export type SendMail = (mail: Mail) => void;
