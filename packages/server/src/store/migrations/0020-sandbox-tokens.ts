/** Test keys have vault tokens of their own. Every token from before is a live one. */
export const sandboxTokens = `
alter table vault_tokens add column sandbox boolean not null default false;
`;
