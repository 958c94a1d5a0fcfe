import type { FastifyRequest } from "fastify";

const CONSENT = "bellhop_session";
/** The consent page reads it and nothing else does. */
const CONSENT_PATH = "/v1/oauth/authorize";
const PAGE = "bellhop_page";

/** The header that the dashboard adds to its requests: no form and no link of another site can. */
const PAGE_HEADER = "bellhop-page";

type Headers = Pick<FastifyRequest, "headers">;
type Request = Pick<FastifyRequest, "headers" | "protocol">;

/** How a cookie is named and kept: by whether the browser that sends the request came by TLS. */
export interface CookieRules {
  /**
   * `__Host-` in front under TLS: under this prefix a browser takes a cookie from this host alone, and no other host of the
   * same domain can plant one.
   */
  name(request: Request, name: string): string;
  /** `Path=…`, and `Secure` under TLS. A cookie with the prefix has to be for every path. */
  attributes(request: Request, path: string): string;
  /** The value under the one name that counts for this request; null if there is none. */
  read(request: Request, name: string): string | null;
}

/** TLS is known by the public URL, or by a proxy that is trusted and says so. */
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
 * How a browser holds a session: in two cookies of the same token, neither of which a script can read. Another site can
 * make a browser send a request here; what it cannot is add a header to one, or pretend to be this site.
 */
export interface SessionCookies {
  /** The cookies that put this session in the place of any other. */
  set(request: Request, token: string, expiresAt: Date): string[];
  /** The cookies that leave the browser without one. */
  clear(request: Request): string[];
  /** The token of a request that the dashboard made, unchecked; undefined for a request of any other origin. */
  readPage(request: Request): string | undefined;
  /** The session token that the browser sent to the consent page, unchecked; null if it sent none. */
  readConsent(request: Request): string | null;
}

export function createSessionCookies({ name, attributes, read }: CookieRules): SessionCookies {
  const write = (request: Request, token: string, expiresAt: Date) => {
    const expires = `Expires=${expiresAt.toUTCString()}; HttpOnly`;
    return [
      `${name(request, PAGE)}=${token}; ${attributes(request, "/")}; ${expires}; SameSite=Strict`,
      // Lax: it comes along when an application sends its user here, and never with a form of another site.
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

/** Of two cookies with this name the first counts: a browser sends the one with the longer path first. */
function readCookie({ headers }: Headers, name: string): string | null {
  for (const pair of (headers.cookie ?? "").split(";")) {
    const [key = "", ...value] = pair.split("=");
    if (key.trim() === name) return value.join("=").trim() || null;
  }
  return null;
}
