import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { pino } from "pino";
import type { ApiDeps } from "../../src/api/server.ts";
import { composeApi } from "../../src/compose-api.ts";
import { createFakeServices, type FakeServices, LIVE_KEY } from "./fake-services.ts";

export interface TestApi {
  readonly app: FastifyInstance;
  readonly services: FakeServices;
  /** Every log line so far, parsed. */
  readonly lines: Record<string, unknown>[];
  /** A call with a valid key. A string is sent as it is, anything else as JSON. */
  call(method: Method, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: LightMyRequestResponse["headers"];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
  readonly body: any;
}

type Method = NonNullable<InjectOptions["method"]>;

/** What the egress policy of these tests says of every host called `private.…`. */
export const PRIVATE_RULE = "must not point to a private or reserved address";

export const BODY_LIMIT = 64 * 1024;

export async function createTestApi(
  services: FakeServices = createFakeServices(),
  options: Partial<Pick<ApiDeps, "trustProxy" | "publicUrl" | "connections">> = {},
): Promise<TestApi> {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const refuseUrl = (url: string) => (url.includes("//private.") ? PRIVATE_RULE : null);
  const app = await composeApi(services, refuseUrl, {
    log,
    version: "1.2.3",
    publicUrl: "http://127.0.0.1:8787",
    bodyLimitBytes: BODY_LIMIT,
    ...options,
  });
  await app.ready();
  return {
    app,
    services,
    lines,
    async call(method, url, body, headers = {}) {
      const typed = body === undefined ? {} : { "content-type": "application/json" };
      const response = await app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${LIVE_KEY}`, ...typed, ...headers },
        ...(body !== undefined && { payload: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      return toAnswer(response);
    },
  };
}

export function toAnswer(response: LightMyRequestResponse): Answer {
  const { statusCode: status, headers, body: text } = response;
  const isJson = String(headers["content-type"]).startsWith("application/json");
  return { status, headers, text, body: isJson && text !== "" ? JSON.parse(text) : undefined };
}
