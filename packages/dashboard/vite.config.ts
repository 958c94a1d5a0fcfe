import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const outDir = fileURLToPath(new URL("../server/dist/page", import.meta.url));
const server = process.env.BELLHOP_URL ?? "http://127.0.0.1:8787";

// biome-ignore lint/style/noDefaultExport: Vite reads its settings from the default export.
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react(), compressed()],
  // The page is built from the SDK's source: no build of the SDK has to come first.
  resolve: { alias: { "@bellhop/sdk": fileURLToPath(new URL("../sdk/src/index.ts", import.meta.url)) } },
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2022",
    // Everything is a file of its own: the policy of the page allows neither inline scripts nor data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Of the packages in the page: `npm pack` puts them into THIRD-PARTY-NOTICES.
    license: { fileName: ".vite/licences.json" },
    // Asked for by the SDK only where a runtime has no crypto of its own; browsers do.
    rolldownOptions: { external: ["node:crypto"] },
  },
  server: { proxy: { "/v1": server, "/page": server } },
});

/** Files smaller than this are sent as they are: compressing saves no packet. */
const WORTH_COMPRESSING = 1024;

/** Leaves a `.br` and a `.gz` beside every text file, so that no request pays for compressing. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    async closeBundle() {
      const names = await readdir(outDir, { recursive: true });
      await Promise.all(
        names
          .filter((name) => /\.(js|css|html|svg)$/.test(name))
          .map((name) => compressFile(join(outDir, name))),
      );
    },
  };
}

async function compressFile(path: string): Promise<void> {
  const content = await readFile(path);
  if (content.length < WORTH_COMPRESSING) return;
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content, best));
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
}
