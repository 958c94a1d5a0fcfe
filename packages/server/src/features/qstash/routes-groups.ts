import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, RECORD, SMALL } from "../../api/http/cost.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { invalid, mustBe } from "../../domain/complaint.ts";
import { WHOLE_LIST } from "../../domain/page.ts";
import type { JsonGate } from "../../json/gate.ts";
import { MOST_ENDPOINTS } from "./domain-group.ts";
import { HIDDEN, isObject, objectIn, parameterIn, wholeList } from "./routes-http.ts";
import type { UrlGroupService } from "./service-groups.ts";
import type { UrlGroup } from "./store.ts";

export function registerGroupRoutes(
  app: Api,
  { groups, json }: { readonly groups: UrlGroupService; readonly json: JsonGate },
): void {
  const read = {
    ...HIDDEN,
    config: { ...access("queues:read"), ...costs("point", { rows: 1, bytes: RECORD }) },
  };
  const write = {
    ...HIDDEN,
    config: { ...access("queues:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
  };

  /** A group that a schedule publishes to stays: the removal looks at the team's schedules. */
  const removal = {
    ...write,
    config: { ...write.config, ...costs("scan", { rows: 1_000_000, bytes: SMALL }) },
  };

  const list = { ...read, config: { ...read.config, ...costs("scan", { rows: 1_001, bytes: RECORD }) } };
  app.get("/topics", list, async (request) =>
    wholeList(await groups.page(callerOf(request), WHOLE_LIST), groupView, "/v1/url-groups"),
  );
  app.get("/topics/:name", read, async (request) =>
    groupView(await groups.get(callerOf(request), parameterIn(request, "name"))),
  );
  app.delete("/topics/:name", removal, async (request) => {
    await groups.remove(requesterOf(request), parameterIn(request, "name"));
    return {};
  });
  app.post("/topics/:name/endpoints", write, async (request) => {
    const { endpoints } = await objectIn(request, json, ["endpoints"]);
    const added = readEndpoints(endpoints).map(({ name, url }) => {
      if (url === undefined) throw invalid([mustBe("url", "given for each endpoint")]);
      return { url, ...(name !== undefined && { name }) };
    });
    const group = parameterIn(request, "name");
    await groups.add(requesterOf(request), group, added);
    return groupView(await groups.get(callerOf(request), group));
  });
  app.delete("/topics/:name/endpoints", removal, async (request) => {
    const { endpoints } = await objectIn(request, json, ["endpoints"]);
    await groups.removeEndpoints(
      requesterOf(request),
      parameterIn(request, "name"),
      readEndpoints(endpoints),
    );
    return {};
  });
}

function readEndpoints(value: unknown): { readonly name?: string; readonly url?: string }[] {
  const isFew = Array.isArray(value) && value.length > 0 && value.length <= MOST_ENDPOINTS;
  if (!isFew) throw invalid([mustBe("endpoints", `a list of 1 to ${MOST_ENDPOINTS} endpoints`)]);
  return value.map((endpoint: unknown) => {
    if (!isObject(endpoint)) throw invalid([mustBe("endpoints", "a list of { name?, url }")]);
    const { name, url } = endpoint;
    if (name !== undefined && typeof name !== "string") throw invalid([mustBe("name", "a string")]);
    if (url !== undefined && typeof url !== "string") throw invalid([mustBe("url", "a string")]);
    if ((name === undefined || name === "") && url === undefined)
      throw invalid([mustBe("endpoints", "a list of { name?, url }")]);
    return { ...(name !== undefined && name !== "" && { name }), ...(url !== undefined && { url }) };
  });
}

function groupView({ name, endpoints, createdAt, updatedAt }: UrlGroup): object {
  return { name, createdAt: createdAt.getTime(), updatedAt: updatedAt.getTime(), endpoints };
}
