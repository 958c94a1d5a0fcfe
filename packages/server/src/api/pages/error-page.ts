import type { FastifyReply, FastifyRequest } from "fastify";
import { type Html, html } from "../../domain/html.ts";
import type { Problem } from "../../domain/problem.ts";
import { refuse } from "../http/error-answer.ts";
import { sendPage } from "./page.ts";

/** For scopes whose visitors are people: the same statuses and headers as in the API, in words for them. */
export function answerErrorPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = refuse(error, request, reply);
  const { title, body } = problem.code === "internal" ? bugText(request.id) : problemText(problem);
  return sendPage(reply, { title, body, status: reply.statusCode });
}

interface Text {
  readonly title: string;
  readonly body: Html;
}

const askAgain = html`<p><a href="/sign-in">Ask for a new link</a></p>`;

function problemText(problem: Problem): Text {
  switch (problem.code) {
    case "token_invalid":
      return {
        title: "This link no longer works",
        body: html`<p>It was used already, a newer one has taken its place, or its time is up.</p>${askAgain}`,
      };
    case "rate_limited":
      return {
        title: "Too many tries",
        body: html`<p>Please wait ${waitText(problem.retryAfterSeconds ?? 60)} and try again.</p>`,
      };
    case "form_foreign":
      return {
        title: "That did not come from here",
        body: html`<p>The form was sent from somewhere else, or your browser keeps no cookies of this page. Nothing has
changed: please open your link once more.</p>${askAgain}`,
      };
    default:
      return problem.status >= 500
        ? {
            title: "Not available right now",
            body: html`<p>Bellhop cannot answer at the moment. Please try again shortly.</p>`,
          }
        : { title: "That did not work", body: html`<p>${problem.message}.</p>` };
  }
}

function bugText(requestId: string): Text {
  return {
    title: "Something went wrong",
    body: html`<p>The fault is on our side. Please try again.</p><p class="soft">Request ${requestId}</p>`,
  };
}

function waitText(seconds: number): string {
  if (seconds < 60) return seconds === 1 ? "a second" : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}
