/** How to reach the embedded server; `host` is the directory of its socket. */
export type EmbeddedConnection = { host: string; port: number; user: "bellhop"; database: "bellhop" };
