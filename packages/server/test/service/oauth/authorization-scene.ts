import assert from "node:assert/strict";
import type { Authorization } from "../../../src/domain/identity/oauth-application.ts";
import type { Principal } from "../../../src/domain/identity/principal.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import {
  type AuthorizationService,
  createAuthorizationService,
} from "../../../src/service/oauth/authorization-service.ts";
import type { Person } from "../people/team-scene.ts";
import { type OAuthScene, openOAuthScene } from "./oauth-scene.ts";

/** People who have let applications in, and the service by which they see and end it. */
export interface AuthorizationScene {
  readonly scene: OAuthScene;
  readonly access: AuthorizationService;
  idsSeenBy(principal: Principal): Promise<string[]>;
  newest(person: Principal): Promise<Authorization>;
  /** In a team of its own. */
  newPerson(role?: Person["role"]): Promise<Person>;
}

export async function openAuthorizationScene(): Promise<AuthorizationScene> {
  const scene = await openOAuthScene();
  const access = createAuthorizationService({ database: scene.watched });
  return {
    scene,
    access,
    idsSeenBy: async (principal) => (await access.list(principal)).items.map(({ id }) => id),
    async newest(person) {
      const [first] = (await access.list(person)).items;
      assert.ok(first, "nothing is listed");
      return first;
    },
    newPerson: async (role = "member") =>
      scene.join(await scene.newTeam(), `${newUuid()}@example.test`, role),
  };
}
