import type { RefuseUrl } from "../call.ts";
import type { LookedUp } from "../json/look-up.ts";

export type FilledTemplate =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly message: string };

/** As long as the URL of a first call may be. */
export const LONGEST_POLL_URL = 8192;

const VARIABLE = /\{([^{}]*)\}/g;
const ONE_VARIABLE = /^\{[^{}]*\}$/;
const VARIABLE_PATH = /^startResult\.body\.([^.{}]+(?:\.[^.{}]+)*)$/;

/**
 * Scheme and authority up to where the path or query begins. There is no room for a variable in it: an answer must
 * not be able to choose the host of a URL that names one.
 */
const ORIGIN = /^https?:\/\/[^/\\?#@\s{}]+(?=[/?#]|$)/i;

/** The URL parser drops or replaces these, so what is called would not be what the record shows. */
const NOT_IN_URL = /[\s\p{Cc}\p{Cs}\\]/u;

/** To the URL parser an encoded dot is a dot. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * What is wrong with a template, to be put behind the name of its field; null if nothing is. With the first call's
 * URL it also knows whether http is allowed: better refused at creation than after a paid first call.
 */
export function templateComplaint(
  template: string,
  firstCallUrl?: string,
  refuseUrl: RefuseUrl = () => null,
): string | null {
  for (const [variable, name = ""] of template.matchAll(VARIABLE)) {
    if (!VARIABLE_PATH.test(name)) {
      return `has an unknown variable ${variable}: only {startResult.body.<path>} can be filled in`;
    }
  }
  if (/[{}]/.test(template.replace(VARIABLE, ""))) return "has a brace that belongs to no variable";
  if (ONE_VARIABLE.test(template)) return null;

  const sample = template.replace(VARIABLE, "x");
  if (!ORIGIN.test(template) || NOT_IN_URL.test(template) || !URL.canParse(sample)) {
    return "must be a valid http or https URL with variables behind its host only, or one variable alone";
  }
  if (hasDotSegment(sample)) return 'must not have "." or ".." as a part of its path';
  const { protocol, origin } = new URL(sample);
  if (firstCallUrl !== undefined && protocol !== "https:" && origin !== originOf(firstCallUrl)) {
    return "must be https, or on the origin of the first call";
  }
  // Its host is the template's own, whatever will be filled in.
  return refuseUrl(sample);
}

/** The paths of the variables in a template. */
export function templatePaths(template: string): string[] {
  return Array.from(template.matchAll(VARIABLE), ([, name = ""]) => pathOf(name)).filter(
    (path) => path !== "",
  );
}

function pathOf(variable: string): string {
  return VARIABLE_PATH.exec(variable)?.[1] ?? "";
}

/**
 * The URL that a template yields for what was found in the answer to the first call at `templatePaths`.
 *
 * A template that is one variable alone yields the answer's value as the whole URL; whether it may be called is for
 * `pollTarget` to say. Any other template yields a URL of its own origin, whatever the answer holds.
 */
export function fillTemplate(template: string, start: LookedUp): FilledTemplate {
  const complaint = templateComplaint(template);
  if (complaint !== null) return refuse(`The URL template ${complaint}`);
  const whole = ONE_VARIABLE.test(template);

  let url = "";
  let end = 0;
  for (const { 0: variable, 1: name = "", index } of template.matchAll(VARIABLE)) {
    const value = readVariable(start, pathOf(name), whole);
    if (!value.ok) return value;
    url += template.slice(end, index) + (whole ? value.url : encodeURIComponent(value.url));
    if (url.length > LONGEST_POLL_URL) return TOO_LONG;
    end = index + variable.length;
  }
  url += template.slice(end);

  if (url.length > LONGEST_POLL_URL) return TOO_LONG;
  if (!whole && hasDotSegment(url)) {
    return refuse("The answer to the first call would lead to another path");
  }
  return { ok: true, url };
}

const TOO_LONG = refuse("The answer to the first call makes a URL that is too long");

function readVariable(start: LookedUp, path: string, whole: boolean): FilledTemplate {
  if (start.kind === "refused") return refuse(`The answer to the first call ${start.reason}`);
  if (start.kind === "not_json")
    return refuse(`The answer to the first call is not JSON, so it has no "${path}"`);
  const value = start.values.get(path);
  if (value === undefined) return refuse(`The answer to the first call has no "${path}"`);
  const { type, text } = value;
  if (whole && type !== "string") {
    return refuse(`"${path}" in the answer to the first call is not a URL`);
  }
  if (type !== "string" && type !== "number") {
    return refuse(`"${path}" in the answer to the first call is neither a string nor a number`);
  }
  if (text.length > LONGEST_POLL_URL) return TOO_LONG;
  if (text === "") return refuse(`"${path}" in the answer to the first call is empty`);
  // Encoded, a slash is no slash to us, but to some servers it is.
  if (!whole && text.split(/[/\\]/).some((part) => DOT_SEGMENT.test(part))) {
    return refuse(`"${path}" in the answer to the first call would lead to another path`);
  }
  return { ok: true, url: text };
}

function refuse(message: string): FilledTemplate {
  return { ok: false, message };
}

function hasDotSegment(url: string): boolean {
  const [path = ""] = url.replace(ORIGIN, "").split(/[?#]/);
  return path.split("/").some((segment) => DOT_SEGMENT.test(segment));
}

/** Null for what is not an http or https URL: other schemes borrow an origin (`blob:`) or have none. */
export function originOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, origin } = new URL(url);
  return protocol === "http:" || protocol === "https:" ? origin : null;
}
