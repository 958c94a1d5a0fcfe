/**
 * What the authorization of an access token allows, where the token itself was asked for with fewer scopes: a later refresh may
 * ask for all of it again. Null: the scopes of the token.
 */
export const grantedScopes = `
alter table oauth_tokens add column granted_scopes text[];
`;
