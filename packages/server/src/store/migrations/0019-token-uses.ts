/** When a vault token was last put into a call; null where it never was, or not since this column is there. */
export const tokenUses = `
alter table vault_tokens add column last_used_at timestamptz;
`;
