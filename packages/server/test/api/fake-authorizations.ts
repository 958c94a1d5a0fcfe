import type { Authorization } from "../../src/domain/identity/oauth-application.ts";
import { isAtLeast } from "../../src/domain/identity/role.ts";
import { Problem } from "../../src/domain/problem.ts";
import { formatId } from "../../src/domain/public-id.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import type { AuthorizationService } from "../../src/service/oauth/authorization-service.ts";

export interface FakeAuthorizations extends AuthorizationService {
  /** A person of a team allows an application something. */
  allow(teamId: number, userId: string, email: string): Authorization;
}

/** What the routes need to be tried: the rules themselves are tested on the database. */
export function createFakeAuthorizations(now: Date): FakeAuthorizations {
  const all = new Map<string, Authorization & { readonly teamId: number; readonly userId: string }>();
  return {
    allow(teamId, userId, email) {
      const granted: Authorization = {
        id: formatId("auth", newUuid()),
        application: { clientId: formatId("app", newUuid()), name: "Reports", team: "Difference Ltd" },
        user: { id: formatId("user", userId), email },
        scopes: ["tasks:read", "tokens:use"],
        createdAt: now,
        expiresAt: new Date(now.getTime() + 3_600_000),
      };
      all.set(granted.id, { ...granted, teamId, userId });
      return granted;
    },
    list: async ({ teamId, userId, role }) =>
      [...all.values()]
        .filter((granted) => granted.teamId === teamId)
        .filter((granted) => isAtLeast(role, "admin") || granted.userId === userId)
        .reverse(),
    async end({ teamId, userId, role }, id) {
      const granted = all.get(id);
      if (granted?.teamId !== teamId) throw new Problem("authorization_not_found");
      if (granted.userId !== userId && !isAtLeast(role, "admin"))
        throw new Problem("role_missing", { role: "admin" });
      all.delete(id);
      return { id, endedAt: now };
    },
  };
}
