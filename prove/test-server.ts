import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Scratch {
  makeScratch(): Promise<string>;
  removeScratch(directory: string): Promise<void>;
}
interface Servers {
  startTestServer(
    scratch: string,
    tree: string,
  ): Promise<{ makeTemplate(): Promise<void>; stop(): Promise<void> }>;
}

/** Starts the PostgreSQL of the tests, once for all plants, from the build without a bug. */
export async function startTests(): Promise<{ stop(): Promise<void> }> {
  const { makeScratch, removeScratch }: Scratch = await import(join(ROOT, "scripts/test-scratch.mjs"));
  const { startTestServer }: Servers = await import(join(ROOT, "scripts/test-server.mjs"));
  const scratch = await makeScratch();
  const server = await startTestServer(scratch, join(ROOT, ".build"));
  await server.makeTemplate();
  return {
    async stop() {
      await server.stop();
      await removeScratch(scratch);
    },
  };
}
