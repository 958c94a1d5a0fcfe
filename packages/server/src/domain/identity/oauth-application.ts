import type { Scope } from "./scope.ts";

export const GRANT_TYPES = ["authorization_code", "refresh_token", "client_credentials"] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

export const DEFAULT_GRANT_TYPES: readonly GrantType[] = ["authorization_code", "refresh_token"];

/** Far more than a team has programs; stops a program that creates one on every run. */
export const MOST_APPLICATIONS = 100;

/** A program with access to teams, without its secret. */
export interface OAuthApplication {
  /** `app_…`. */
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly Scope[];
  readonly grantTypes: readonly GrantType[];
  readonly createdAt: Date;
}

/** An application at its creation, with the secret. */
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
 * The access of an application that a person granted in a team. It begins with a consent, all tokens that follow belong
 * to it, and it ends as a whole.
 */
export interface Authorization {
  /** `auth_…`, unchanged while the authorization lasts. */
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
  /** When it expires unless the application refreshes it. */
  readonly expiresAt: Date;
}

export interface EndedAuthorization {
  readonly id: string;
  readonly endedAt: Date;
}
