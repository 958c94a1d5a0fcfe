import type { Scope } from "./scope.ts";

/** What a person of a team has allowed an application to do there: all that descends from one consent. */
export interface GrantedAccess {
  /** `auth_…`, the same for as long as it lasts. */
  readonly id: string;
  readonly application: {
    /** `app_…`. */
    readonly clientId: string;
    readonly name: string;
    /** The name of the team that the application is of. */
    readonly team: string;
  };
  readonly user: {
    /** `user_…`. */
    readonly id: string;
    readonly email: string;
  };
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  /** When it ends by itself, unless the application refreshes it before. */
  readonly expiresAt: Date;
}

export interface EndedAccess {
  readonly id: string;
  readonly endedAt: Date;
}
