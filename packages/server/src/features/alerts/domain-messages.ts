import { html } from "../../domain/html.ts";
import type { Mail } from "../../domain/identity/mail.ts";
import { formatId } from "../../domain/public-id.ts";
import type { Alert, AlertCondition, MessageType } from "./domain.ts";

/** What a receiver gets as JSON. */
export interface AlertMessage {
  readonly type: MessageType;
  readonly alert: { readonly id: string; readonly name: string; readonly when: AlertCondition };
  readonly value: number | null;
  readonly since: string | null;
}

export function composeMessage(
  { id, name, when }: Pick<Alert, "id" | "name" | "when">,
  { type, value, since }: { type: MessageType; value: number | null; since: Date | null },
): AlertMessage {
  return {
    type,
    alert: { id: formatId("alr", id), name, when },
    value,
    since: since?.toISOString() ?? null,
  };
}

/** The id that every channel gets for one message, the same on every try. */
export function messageName(id: string): string {
  return formatId("alm", id);
}

const HEADINGS: Readonly<Record<MessageType, string>> = {
  "alert.firing": "Firing",
  "alert.reminder": "Still firing",
  "alert.resolved": "Resolved",
  "alert.test": "Test",
};

/** One line. */
export function headingOf({ type, alert }: AlertMessage): string {
  return `${HEADINGS[type]}: ${oneLine(alert.name)}`;
}

/** What is measured, the figure and since when. */
export function detailOf({ type, alert, value, since }: AlertMessage): string {
  const { when } = alert;
  const measured = value === null ? "there is no figure" : `it is ${figureOf(when, value)}`;
  const from = since === null ? "" : ` ${type === "alert.resolved" ? "It held since" : "Since"} ${since}.`;
  const note = type === "alert.test" ? " This is a test: nothing has changed." : "";
  return `${conditionText(when)}; ${measured}.${from}${note}`;
}

export function conditionText({ kind, queue, threshold, within }: AlertCondition): string {
  const where = queue === null ? "of the team" : `of the queue ${queue}`;
  switch (kind) {
    case "failure_rate":
      return `At least ${threshold} % of the tasks ${where} that ended within ${within} s failed`;
    case "oldest_pending":
      return `The oldest due task ${where} has waited for ${threshold} s or longer`;
    case "depth":
      return `At least ${threshold} tasks ${where} are due and pending`;
    case "breaker_open":
      return `A circuit breaker ${where} is open: a target fails, and its tasks wait`;
    case "webhook_disabled":
      return "Bellhop disabled a webhook of the team because its deliveries failed";
    case "schedule_failing":
      return `A schedule failed ${threshold} times in a row`;
    case "storage":
      return `At least ${threshold} % of the storage is used`;
  }
}

function figureOf({ kind }: AlertCondition, value: number): string {
  const figure = Number(value.toFixed(1));
  switch (kind) {
    case "failure_rate":
    case "storage":
      return `${figure} %`;
    case "oldest_pending":
      return `${Math.round(value)} s`;
    default:
      return String(figure);
  }
}

/** Slack reads these three characters as markup: a name must not mention a channel. */
const SLACK_ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export function slackBody(message: AlertMessage): string {
  const text = `*${headingOf(message)}*\n${detailOf(message)}`;
  return JSON.stringify({ text: text.replace(/[&<>]/g, (character) => SLACK_ESCAPES[character] ?? "") });
}

export function composeAlertMail(to: string, message: AlertMessage, link: string): Mail {
  const heading = headingOf(message);
  const detail = detailOf(message);
  const page = html`<!doctype html>
<p><strong>${heading}</strong></p>
<p>${detail}</p>
<p><a href="${link}">Alerts of the team</a></p>
`;
  return {
    to,
    subject: `[Bellhop] ${heading}`,
    text: `${heading}\n\n${detail}\n\n${link}\n`,
    html: page.toString(),
  };
}

/** Control characters and line and direction marks: a name must not look like our own text. */
const NOT_IN_LINE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

function oneLine(name: string): string {
  return name.replace(NOT_IN_LINE, " ");
}
