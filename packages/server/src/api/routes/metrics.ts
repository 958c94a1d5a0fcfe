import { createHash, timingSafeEqual } from "node:crypto";
import { Problem } from "../../domain/problem.ts";
import type { Api } from "../http/schema-types.ts";
import { UNCOUNTED } from "../http/visit-limit.ts";

export interface MetricsPage {
  readonly contentType: string;
  render(): Promise<string>;
}

export interface MetricsAccess {
  /** Others than this machine can reach the server: without a token nobody gets to read. */
  readonly exposed: boolean;
  /** If there is one it must be shown, exposed or not. */
  readonly token: string | null;
}

/** For Prometheus and its like. Not counted as visits: a scraper comes for ever, perhaps through a proxy with others. */
export function registerMetricsRoute(app: Api, page: MetricsPage, access: MetricsAccess): void {
  app.get("/metrics", { config: UNCOUNTED, schema: { hide: true } }, async (request, reply) => {
    refuseStranger(access, request.headers.authorization);
    reply.header("cache-control", "no-store").type(page.contentType);
    return page.render();
  });
}

function refuseStranger({ exposed, token }: MetricsAccess, authorization = ""): void {
  if (token === null && exposed) throw new Problem("metrics_token_unset");
  const shown = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
  // Of hashes, which are equally long: the time that it takes tells nothing of the token.
  if (token !== null && !timingSafeEqual(sha256(shown), sha256(token)))
    throw new Problem("metrics_token_invalid");
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
