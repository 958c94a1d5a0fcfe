import { startEmbeddedPostgres } from "../../src/postgres/embedded.ts";

const [dataDir = ""] = process.argv.slice(2);
try {
  const server = await startEmbeddedPostgres({ dataDir, log: () => {} });
  process.once("SIGTERM", () => server.stop());
  process.stdout.write(`${JSON.stringify({ started: server.connection })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ refused: error instanceof Error ? error.message : error })}\n`);
}
