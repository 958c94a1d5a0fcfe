// npm run prove: a launcher and nothing more, so that the runners can be TypeScript without a build of their own.
import { register } from "tsx/esm/api";

/** With one of these, mutants made by machine instead of the catalogue of planted bugs. */
const OF_MUTANTS = /^--(sample|list|coverage)\b/;

register();
await import(process.argv.some((option) => OF_MUTANTS.test(option)) ? "./mutants/run.ts" : "./run.ts");
