// One process for all suites: loading the schema library takes longer than running the tests.
import { readdirSync } from "node:fs";

const suites = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".suite.js"));
if (suites.length === 0) throw new Error("No suite was found beside this file");
for (const name of suites) await import(`./${name}`);
