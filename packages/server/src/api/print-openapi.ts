import { readFileSync } from "node:fs";
import { buildOpenApiDocument } from "./openapi-document.ts";

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

/** The address of a server started with its defaults, so that the committed document is the same on every machine. */
const document = await buildOpenApiDocument(version, "http://127.0.0.1:8787");
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
