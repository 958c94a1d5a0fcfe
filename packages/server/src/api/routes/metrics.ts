import { createHash, timingSafeEqual } from "node:crypto";
import { Problem } from "../../domain/problem.ts";
import { costs, MIB } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { UNCOUNTED } from "../http/visit-limit.ts";

export interface MetricsPage {
  readonly contentType: string;
  render(): Promise<string>;
}

export interface MetricsAccess {
  /** Other machines can reach the server: without a token no request is allowed. */
  readonly exposed: boolean;
  /** A configured token is always required. */
  readonly token: string | null;
}

/** For Prometheus. Not rate limited: a scraper runs forever, perhaps through a shared proxy. */
export function registerMetricsRoute(app: Api, page: MetricsPage, access: MetricsAccess): void {
  app.get(
    "/metrics",
    { config: { ...UNCOUNTED, ...costs("page", { rows: 1_001, bytes: MIB }) }, schema: { hide: true } },
    async (request, reply) => {
      refuseStranger(access, request.headers.authorization);
      reply.header("cache-control", "no-store").type(page.contentType);
      return page.render();
    },
  );
}

function refuseStranger({ exposed, token }: MetricsAccess, authorization = ""): void {
  if (token === null && exposed) throw new Problem("metrics_token_unset");
  const shown = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
  // Compares hashes of equal length in constant time.
  if (token !== null && !timingSafeEqual(sha256(shown), sha256(token)))
    throw new Problem("metrics_token_invalid");
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
