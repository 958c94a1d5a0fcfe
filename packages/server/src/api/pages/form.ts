import { randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../domain/problem.ts";
import type { Api } from "../http/schema-types.ts";
import type { CookieRules } from "../http/session-cookie.ts";

/** Larger than any form of ours. */
const BODY_LIMIT = 16 * 1024;
const COOKIE = "bellhop_form";
const KEY = /^[0-9a-f]{64}$/;

/** For a scope of pages: forms and nothing else. */
export function acceptForms(app: Api): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: BODY_LIMIT },
    (_request, text, done) => done(null, new URLSearchParams(text)),
  );
}

/** A field of the form; empty if it is not there. */
export function formField({ body }: FastifyRequest, name: string): string {
  return body instanceof URLSearchParams ? (body.get(name) ?? "") : "";
}

/**
 * A key in the form that the browser's cookie repeats. Another site could submit a form in its visitor's name and sign
 * the visitor in as another person; it can neither read nor set the cookie.
 */
export interface FormKey {
  /** The value of the field `form`. An existing one is kept, because the browser may have other tabs. */
  issue(request: FastifyRequest, reply: FastifyReply): string;
  /** Refuses a form that did not come from a page of ours. */
  check(request: FastifyRequest): void;
}

export function createFormKey(path: string, rules: CookieRules): FormKey {
  const held = (request: FastifyRequest) => {
    const key = rules.read(request, COOKIE);
    return key !== null && KEY.test(key) ? key : null;
  };
  return {
    issue(request, reply) {
      const key = held(request) ?? randomBytes(32).toString("hex");
      const attributes = `${rules.attributes(request, path)}; HttpOnly; SameSite=Lax`;
      reply.header("set-cookie", `${rules.name(request, COOKIE)}=${key}; ${attributes}`);
      return key;
    },
    check(request) {
      const key = held(request);
      const sent = formField(request, "form");
      if (key === null || !KEY.test(sent) || !timingSafeEqual(Buffer.from(key), Buffer.from(sent)))
        throw new Problem("form_foreign");
    },
  };
}
