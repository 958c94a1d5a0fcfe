import { pino } from "pino";
import { describeApi } from "../api/openapi/openapi.ts";
import { createProviderService } from "../service/tasks/provider-service.ts";
import type { Database } from "../store/sql.ts";
import { composeApi } from "./compose-api.ts";
import { composeNode } from "./compose-node.ts";
import { systemTime } from "./system-time.ts";

const absent = async (): Promise<never> => {
  throw new Error("Only the document was asked for: there is nothing behind it");
};

const nowhere: Database = { rows: absent, transaction: absent };

/** The OpenAPI document without a server: it depends on the routes and their schemas alone. */
export async function buildOpenApiDocument(version: string, publicUrl: string): Promise<object> {
  const log = pino({ level: "silent" });
  const { services } = composeNode({
    databases: {
      api: nowhere,
      lease: nowhere,
      intake: nowhere,
      settle: nowhere,
      claim: nowhere,
      chores: nowhere,
      polls: nowhere,
    },
    caller: { call: absent, callUnwiped: absent, stop: absent, destroy() {} },
    refuseUrl: () => null,
    sendMail() {},
    providers: createProviderService(null),
    keyRing: null,
    sessionKeys: [],
    signUp: "open",
    sendsLinks: true,
    publicUrl: () => publicUrl,
    name: "document",
    role: "all",
    embedded: false,
    capacity: 1,
    retentionDays: 1,
    resultLimitBytes: 1,
    log,
    time: systemTime,
    random: () => 0,
  });
  const app = await composeApi(services, () => null, {
    log,
    version,
    publicUrl,
    bodyLimitBytes: 1,
    describe: (api) => describeApi(api, version, publicUrl),
  });
  await app.ready();
  return app.swagger();
}
