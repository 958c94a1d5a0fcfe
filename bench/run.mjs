// npm run bench: a launcher and nothing more, so that the bench itself can be TypeScript without a build of its own.
import { register } from "tsx/esm/api";

register();
await import("./run.ts");
