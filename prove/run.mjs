// npm run prove: a launcher and nothing more, so that the runner can be TypeScript without a build of its own.
import { register } from "tsx/esm/api";

register();
await import("./run.ts");
