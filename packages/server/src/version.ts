import { readFileSync } from "node:fs";

/** As the package says, so that there is one place to change it. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
).version;
