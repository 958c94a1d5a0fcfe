import type { ProviderService } from "../../service/tasks/provider-service.ts";
import { costs, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { openRefusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { ProviderList } from "../schemas/provider.ts";

/** Public: the catalog holds nothing of any team. A credential that is sent all the same is not looked at. */
export function registerProviderRoutes(app: Api, providers: ProviderService): void {
  app.get(
    "/providers",
    {
      config: costs("point", { rows: 0, bytes: SMALL }),
      schema: {
        operationId: "listProviders",
        tags: ["Providers"],
        summary: "List providers",
        description: "Predefined polling configurations. No credential is needed.",
        security: [],
        response: { 200: ref(ProviderList), ...openRefusals() },
      },
    },
    async () => ({ providers: providers.list() }),
  );
}
