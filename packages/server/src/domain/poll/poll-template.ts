import type { RefuseUrl } from "../call.ts";
import type { LookedUp } from "../json/look-up.ts";

export type FilledTemplate =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly message: string };

/** The length limit of the first call's URL. */
export const LONGEST_POLL_URL = 8192;

const VARIABLE = /\{([^{}]*)\}/g;
const ONE_VARIABLE = /^\{[^{}]*\}$/;
const VARIABLE_PATH = /^startResult\.body\.([^.{}]+(?:\.[^.{}]+)*)$/;

/** Scheme and authority up to the path or query, without variables: an answer must not choose the host. */
const ORIGIN = /^https?:\/\/[^/\\?#@\s{}]+(?=[/?#]|$)/i;

/** The URL parser drops or replaces these, so the call would differ from the record. */
const NOT_IN_URL = /[\s\p{Cc}\p{Cs}\\]/u;

/** To the URL parser an encoded dot is a dot. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * The complaint about a template, as the end of a sentence after the field's name; null if it is valid. With the first
 * call's URL it also checks whether http is allowed: better refused at creation than after a paid first call.
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
  // The host is fixed by the template.
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
 * The URL of a template with the values found at `templatePaths` in the answer to the first call.
 *
 * A template of a single variable yields the answer's value as the whole URL; `pollTarget` decides whether it may be
 * called. Any other template yields a URL of its own origin, whatever the answer contains.
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
  // Bellhop does not treat an encoded slash as a slash, but some servers do.
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
