import type { FastifyRequest } from "fastify";

const NAME = "bellhop_session";
/** The consent page reads it and nothing else does: the API takes credentials from headers alone. */
const PATH = "/v1/oauth/authorize";

/** Lax: it comes along when an application sends its user here, and never with a form of another site. */
export function sessionCookie(token: string, expiresAt: Date, secure: boolean): string {
  return [
    `${NAME}=${token}`,
    `Path=${PATH}`,
    `Expires=${expiresAt.toUTCString()}`,
    "HttpOnly",
    "SameSite=Lax",
    ...(secure ? ["Secure"] : []),
  ].join("; ");
}

/** The session token that the browser sent, unchecked; null if it sent none. */
export function readSessionCookie(request: Pick<FastifyRequest, "headers">): string | null {
  return readCookie(request, NAME);
}

/** Of two cookies with this name the first counts: a browser sends the one with the longer path first. */
export function readCookie({ headers }: Pick<FastifyRequest, "headers">, name: string): string | null {
  for (const pair of (headers.cookie ?? "").split(";")) {
    const [key = "", ...value] = pair.split("=");
    if (key.trim() === name) return value.join("=").trim() || null;
  }
  return null;
}
