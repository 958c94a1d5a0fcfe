import { timingSafeEqual } from "node:crypto";
import { OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import { parseId } from "../../domain/public-id.ts";
import { type ClientApplication, findClient } from "../../store/identity/oauth-applications.ts";
import type { Sql } from "../../store/sql.ts";
import type { FailureLimit } from "../access/failure-limit.ts";
import { hashSecret } from "../access/secret-hash.ts";
import type { Parameters } from "./parameters.ts";

/** A request of an application: its parameters, credentials and origin. */
export interface ClientRequest {
  readonly parameters: Parameters;
  /** The header of this name. */
  readonly authorization: string | null;
  readonly address: string;
  readonly requestId: string;
}

export type AuthenticateClient = (request: ClientRequest) => Promise<ClientApplication>;

/** Compared with a guess for an unknown application, so that the answer takes as long. */
const NO_SECRET_HASH = Buffer.alloc(32);

/** Authenticates the application of a request. A source that keeps failing is slowed down. */
export function createClientAuthentication(deps: {
  readonly sql: Sql;
  readonly failures: FailureLimit;
}): AuthenticateClient {
  async function find({ clientId, secret }: Credentials): Promise<ClientApplication | null> {
    const id = parseId("app", clientId);
    const application = id === null ? null : await findClient(deps.sql, id);
    const isProven = timingSafeEqual(hashSecret(secret), application?.secretHash ?? NO_SECRET_HASH);
    return isProven ? application : null;
  }

  return async (request) => {
    const credentials = credentialsOf(request);
    const application = await deps.failures.attempt(request.address, () => find(credentials));
    if (application === null)
      throw new OAuthRefusal("invalid_client", "Unknown client or wrong client secret");
    return application;
  };
}

interface Credentials {
  readonly clientId: string;
  readonly secret: string;
}

/** By header or in the body (client_secret_basic, client_secret_post), never both (RFC 6749, 2.3). */
function credentialsOf({ parameters, authorization }: ClientRequest): Credentials {
  const clientId = parameters.get("client_id");
  const secret = parameters.get("client_secret");
  if (authorization === null) {
    if (clientId === undefined || secret === undefined)
      throw new OAuthRefusal("invalid_client", "Client authentication is required");
    return { clientId, secret };
  }
  const basic = readBasic(authorization);
  if (basic === null) throw new OAuthRefusal("invalid_client", "The Authorization header is not valid Basic");
  if (secret !== undefined)
    throw new OAuthRefusal("invalid_request", "Use one method of client authentication, not two");
  if (clientId !== undefined && clientId !== basic.clientId)
    throw new OAuthRefusal("invalid_request", "client_id is not the client of the Authorization header");
  return basic;
}

/** RFC 6749, 2.3.1: id and secret are form-encoded before they are joined by a colon. */
function readBasic(header: string): Credentials | null {
  const [, encoded] = /^Basic +([\w+/=-]+)$/i.exec(header) ?? [];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) return null;
  const clientId = decodeForm(text.slice(0, colon));
  const secret = decodeForm(text.slice(colon + 1));
  return clientId && secret ? { clientId, secret } : null;
}

function decodeForm(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
