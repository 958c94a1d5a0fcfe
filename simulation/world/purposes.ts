/** What one connection is for: each may fail by itself. */
export const PURPOSES = ["lease", "intake", "settle", "claim", "chores", "polls", "api"] as const;
export type Purpose = (typeof PURPOSES)[number];
