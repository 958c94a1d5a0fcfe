import type { FastifyRequest } from "fastify";

const CONSENT = "bellhop_session";
/** The consent page reads it and nothing else does. */
const CONSENT_PATH = "/v1/oauth/authorize";

/** The header that the dashboard adds to its requests: no form and no link of another site can. */
const PAGE_HEADER = "bellhop-page";

type Headers = Pick<FastifyRequest, "headers">;

/**
 * How a browser holds a session: in two cookies of the same token, neither of which a script can read. Another site can
 * make a browser send a request here; what it cannot is add a header to one, or pretend to be this site.
 */
export interface SessionCookies {
  /** The cookies that put this session in the place of any other. */
  set(token: string, expiresAt: Date): string[];
  /** The cookies that leave the browser without one. */
  clear(): string[];
  /** The token of a request that the dashboard made, unchecked; undefined for a request of any other origin. */
  readPage(request: Headers): string | undefined;
}

export function createSessionCookies(publicUrl: string): SessionCookies {
  const secure = publicUrl.startsWith("https:");
  // Under this prefix a browser takes a cookie from this host alone: no other host of the same domain can plant one.
  const page = secure ? "__Host-bellhop_page" : "bellhop_page";
  const end = secure ? "; Secure" : "";
  const write = (token: string, expiresAt: Date) => {
    const expires = `Expires=${expiresAt.toUTCString()}; HttpOnly`;
    return [
      `${page}=${token}; Path=/; ${expires}; SameSite=Strict${end}`,
      // Lax: it comes along when an application sends its user here, and never with a form of another site.
      `${CONSENT}=${token}; Path=${CONSENT_PATH}; ${expires}; SameSite=Lax${end}`,
    ];
  };
  return {
    set: write,
    clear: () => write("", new Date(0)),
    readPage(request) {
      const { [PAGE_HEADER]: mark, "sec-fetch-site": site, authorization } = request.headers;
      if (mark !== "1" || authorization !== undefined) return undefined;
      if (site !== undefined && site !== "same-origin") return undefined;
      return readCookie(request, page) ?? undefined;
    },
  };
}

/** The session token that the browser sent to the consent page, unchecked; null if it sent none. */
export function readConsentCookie(request: Headers): string | null {
  return readCookie(request, CONSENT);
}

/** Of two cookies with this name the first counts: a browser sends the one with the longer path first. */
export function readCookie({ headers }: Headers, name: string): string | null {
  for (const pair of (headers.cookie ?? "").split(";")) {
    const [key = "", ...value] = pair.split("=");
    if (key.trim() === name) return value.join("=").trim() || null;
  }
  return null;
}
