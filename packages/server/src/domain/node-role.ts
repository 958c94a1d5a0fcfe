/** `api` serves requests, `worker` makes calls, `all` does both. */
export const NODE_ROLES = ["all", "api", "worker"] as const;

export type NodeRole = (typeof NODE_ROLES)[number];
