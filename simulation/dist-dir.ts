import { fileURLToPath } from "node:url";

/** The server as it was built, seen from here or from where this file was compiled to. */
const UP = import.meta.url.includes("/.build/") ? "../.." : "..";
export const DIST = fileURLToPath(new URL(`${UP}/packages/server/dist`, import.meta.url));
