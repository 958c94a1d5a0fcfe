#!/usr/bin/env node
// The command in a checkout. A package has that of its bundle instead, unless it was packed without `prepack`, which builds it:
// then it holds nothing but this file.
import { existsSync } from "node:fs";

const command = new URL("../dist/cli/bellhop.js", import.meta.url);
if (existsSync(command)) await import(command.href);
else {
  process.stderr.write(
    "Bellhop is not built here. In a checkout, run npm start. " +
      "For a package, pack with the scripts: npm pack --ignore-scripts=false -w packages/server\n",
  );
  process.exitCode = 1;
}
