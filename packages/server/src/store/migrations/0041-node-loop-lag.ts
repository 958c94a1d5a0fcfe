/** How late the event loop of a node was. Null: a node of an earlier version, which does not report it. */
export const nodeLoopLag = `
alter table nodes add column loop_lag_ms double precision;
`;
