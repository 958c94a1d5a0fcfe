import type { Scope } from "./scope.ts";

export const GRANT_TYPES = ["authorization_code", "refresh_token", "client_credentials"] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

export const DEFAULT_GRANT_TYPES: readonly GrantType[] = ["authorization_code", "refresh_token"];

/** Far more than a team has programs; a program that makes one for every run must come to an end. */
export const MOST_APPLICATIONS = 100;

/** A program that people let into their teams, without its secret. */
export interface OAuthApplication {
  /** `app_…`. */
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly Scope[];
  readonly grantTypes: readonly GrantType[];
  readonly createdAt: Date;
}

/** An application at the moment that its secret is shown. */
export interface MintedApplication extends OAuthApplication {
  readonly clientSecret: string;
}

export interface DeletedApplication {
  readonly clientId: string;
  readonly name: string;
  readonly deletedAt: Date;
}

export function isGrantType(text: string): text is GrantType {
  return GRANT_TYPES.some((type) => type === text);
}

/**
 * The access that a person of a team has allowed an application there. It begins with a consent, that is a yes on our page, and
 * all tokens that come of it are its own; it ends as a whole.
 */
export interface Authorization {
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

export interface EndedAuthorization {
  readonly id: string;
  readonly endedAt: Date;
}
