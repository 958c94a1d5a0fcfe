import type { Principal } from "../../domain/identity/principal.ts";
import { SCOPES } from "../../domain/identity/scope.ts";
import { LIMIT_NAMES, LIMITS, type LimitName } from "../../domain/limits.ts";
import { formatId } from "../../domain/public-id.ts";
import type { TeamService } from "../../service/people/team-service.ts";
import { access } from "../http/access.ts";
import { callerOf } from "../http/auth-hook.ts";
import { costs, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { Me } from "../schemas/me.ts";

export function registerMeRoute(app: Api, teams: TeamService): void {
  app.get(
    "/me",
    {
      config: { ...access("any"), ...costs("point", { rows: 2, bytes: SMALL }) },
      schema: {
        operationId: "getMe",
        tags: ["Teams"],
        summary: "Get the current credential",
        description: "The team and rights of this credential. Every credential may use it.",
        response: { 200: ref(Me), ...refusals() },
      },
    },
    async (request, reply): Promise<Me> => {
      const caller = callerOf(request);
      const { kind, id, name, environment, role, scopes } = caller;
      const [{ team, user }, usage] = await Promise.all([teams.whoAmI(caller), teams.usage(caller)]);
      return {
        kind,
        id,
        name,
        environment,
        role,
        scopes: SCOPES.filter((scope) => scopes === null || scopes.has(scope)),
        team: { id: formatId("team", team.id), name: team.name, plan: team.plan },
        user: user === null ? null : { id: formatId("user", user.id), email: user.email },
        limits: showLimits(caller, usage, reply.getHeader("x-ratelimit-remaining")),
      };
    },
  );
}

/** `remaining` is what the answer's own header says is left of the requests a minute. */
function showLimits(
  { requestsPerMinute, limits }: Principal,
  usage: Partial<Record<LimitName, number>>,
  remaining: unknown,
): Me["limits"] {
  const used = requestsPerMinute === null ? null : requestsPerMinute - Number(remaining);
  const shown: Me["limits"] = { requestsPerMinute: { max: requestsPerMinute, used } };
  for (const name of LIMIT_NAMES) {
    // trusted keys: names of limits.
    shown[name] =
      "isLeast" in LIMITS[name] ? { min: limits[name] } : { max: limits[name], used: usage[name] ?? null };
  }
  return shown;
}
