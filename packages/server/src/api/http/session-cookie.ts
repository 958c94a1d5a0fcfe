import type { FastifyRequest } from "fastify";

const CONSENT = "bellhop_session";
/** Only the consent page reads it. */
const CONSENT_PATH = "/v1/oauth/authorize";
const PAGE = "bellhop_page";

/** The header of the dashboard's requests: no form or link of another site can add it. */
const PAGE_HEADER = "bellhop-page";

type Headers = Pick<FastifyRequest, "headers">;
type Request = Pick<FastifyRequest, "headers" | "protocol">;

/** The name and attributes of cookies, depending on whether the browser uses TLS. */
export interface CookieRules {
  /**
   * With `__Host-` under TLS: a browser accepts such a cookie only from this host, so no other host of the domain can
   * set one.
   */
  name(request: Request, name: string): string;
  /** `Path=…`, and `Secure` under TLS. A cookie with the prefix has to be for every path. */
  attributes(request: Request, path: string): string;
  /** The value under the valid name for this request; null if there is none. */
  read(request: Request, name: string): string | null;
}

/** TLS is known from the public URL or from a trusted proxy. */
export function createCookieRules(publicUrl: string): CookieRules {
  const isPublicSecure = publicUrl.startsWith("https:");
  const isSecure = ({ protocol }: Request) => isPublicSecure || protocol === "https";
  const nameFor = (request: Request, name: string) => (isSecure(request) ? `__Host-${name}` : name);
  return {
    name: nameFor,
    attributes: (request, path) => (isSecure(request) ? "Path=/; Secure" : `Path=${path}`),
    read: (request, name) => readCookie(request, nameFor(request, name)),
  };
}

/**
 * A browser session: two cookies of the same token, unreadable by scripts. Another site can make a browser send a
 * request here, but cannot add a header or forge the origin.
 */
export interface SessionCookies {
  /** The cookies that set this session. */
  set(request: Request, token: string, expiresAt: Date): string[];
  /** The cookies that remove the session. */
  clear(request: Request): string[];
  /** The unverified token of a dashboard request; undefined for any other origin. */
  readPage(request: Request): string | undefined;
  /** The unverified session token for the consent page; null if there is none. */
  readConsent(request: Request): string | null;
}

export function createSessionCookies({ name, attributes, read }: CookieRules): SessionCookies {
  const write = (request: Request, token: string, expiresAt: Date) => {
    const expires = `Expires=${expiresAt.toUTCString()}; HttpOnly`;
    return [
      `${name(request, PAGE)}=${token}; ${attributes(request, "/")}; ${expires}; SameSite=Strict`,
      // Lax: it is sent when an application redirects its user here, but never with a form of another site.
      `${name(request, CONSENT)}=${token}; ${attributes(request, CONSENT_PATH)}; ${expires}; SameSite=Lax`,
    ];
  };
  return {
    set: write,
    clear: (request) => write(request, "", new Date(0)),
    readPage(request) {
      const { [PAGE_HEADER]: mark, "sec-fetch-site": site, authorization } = request.headers;
      if (mark !== "1" || authorization !== undefined) return undefined;
      if (site !== undefined && site !== "same-origin") return undefined;
      return read(request, PAGE) ?? undefined;
    },
    readConsent: (request) => read(request, CONSENT),
  };
}

/** Of two cookies with this name the first counts: a browser sends the longer path first. */
function readCookie({ headers }: Headers, name: string): string | null {
  for (const pair of (headers.cookie ?? "").split(";")) {
    const [key = "", ...value] = pair.split("=");
    if (key.trim() === name) return value.join("=").trim() || null;
  }
  return null;
}
