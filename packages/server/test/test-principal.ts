import type { Requester } from "../src/domain/identity/principal.ts";
import { UNBOUNDED } from "../src/domain/limits.ts";

/** A live key of a team, at work from this machine, unless the test says otherwise. */
export function principalOf(teamId: number, own: Partial<Requester> = {}): Requester {
  return {
    teamId,
    team: "team_01k9z3mxe5f8hrk3yv5pzq8c2d",
    environment: "live",
    kind: "api_key",
    id: "key_01k9z3mxe5f8hrk3yv5pzq8c2d",
    name: "Test key",
    userId: null,
    role: "admin",
    scopes: null,
    plan: "enterprise",
    requestsPerMinute: null,
    limits: UNBOUNDED,
    tokenHash: null,
    address: "127.0.0.1",
    requestId: "test",
    ...own,
  };
}
