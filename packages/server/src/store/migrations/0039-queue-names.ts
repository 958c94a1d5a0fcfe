/** Queues of the QStash-compatible API may have dots and underscores in their names; the code checks them. */
export const queueNames = `
alter table queues drop constraint queues_name_check;
`;
