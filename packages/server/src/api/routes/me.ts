import { SCOPES } from "../../domain/identity/scope.ts";
import { formatId } from "../../domain/public-id.ts";
import type { TeamService } from "../../service/people/team-service.ts";
import { access } from "../http/access.ts";
import { callerOf } from "../http/auth-hook.ts";
import type { Api } from "../http/schema-types.ts";
import { refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { Me } from "../schemas/me.ts";

export function registerMeRoute(app: Api, teams: TeamService): void {
  app.get(
    "/me",
    {
      config: access("any"),
      schema: {
        operationId: "getMe",
        tags: ["Teams"],
        summary: "Who am I",
        description: "Whom this credential speaks for, and what it may do. Every credential may ask.",
        response: { 200: ref(Me), ...refusals() },
      },
    },
    async (request): Promise<Me> => {
      const caller = callerOf(request);
      const { kind, id, name, environment, role, scopes, requestsPerMinute } = caller;
      const { team, user } = await teams.whoAmI(caller);
      return {
        kind,
        id,
        name,
        environment,
        role,
        scopes: SCOPES.filter((scope) => scopes === null || scopes.has(scope)),
        team: { id: formatId("team", team.id), name: team.name, plan: team.plan },
        user: user === null ? null : { id: formatId("user", user.id), email: user.email },
        limits: { requestsPerMinute },
      };
    },
  );
}
