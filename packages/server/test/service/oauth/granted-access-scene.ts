import assert from "node:assert/strict";
import type { GrantedAccess } from "../../../src/domain/identity/granted-access.ts";
import type { Principal } from "../../../src/domain/identity/principal.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import {
  createGrantedAccessService,
  type GrantedAccessService,
} from "../../../src/service/oauth/granted-access-service.ts";
import type { Person } from "../people/team-scene.ts";
import { type OAuthScene, openOAuthScene } from "./oauth-scene.ts";

/** People who have let applications in, and the service by which they see and end it. */
export interface GrantedAccessScene {
  readonly scene: OAuthScene;
  readonly access: GrantedAccessService;
  idsSeenBy(principal: Principal): Promise<string[]>;
  newest(person: Principal): Promise<GrantedAccess>;
  /** In a team of its own. */
  newPerson(role?: Person["role"]): Promise<Person>;
}

export async function openGrantedAccessScene(): Promise<GrantedAccessScene> {
  const scene = await openOAuthScene();
  const access = createGrantedAccessService({ database: scene.watched });
  return {
    scene,
    access,
    idsSeenBy: async (principal) => (await access.list(principal)).map(({ id }) => id),
    async newest(person) {
      const [first] = await access.list(person);
      assert.ok(first, "nothing is listed");
      return first;
    },
    newPerson: async (role = "member") =>
      scene.join(await scene.newTeam(), `${newUuid()}@example.test`, role),
  };
}
