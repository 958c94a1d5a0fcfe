// npm run simulate: a launcher and nothing more, so that the simulation can be TypeScript without a build of its own.
import { register } from "tsx/esm/api";

register();
await import("./run.ts");
