/** A mail to one person, in plain text, and in HTML for those who prefer it. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Hands a mail over and does not wait for it: never throws, and a mail that cannot be delivered is logged. */
export type SendMail = (mail: Mail) => void;
