import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

/** What failed and why, for the end of the output: of a long report often nothing but its end is kept. */
export function describeFailures(failures, root) {
  // A suite fails with its tests, and its own error says no more than that.
  const own = failures.filter(({ details }) => details.error?.failureType !== "subtestsFailed");
  return own.map((failure) => describe(failure, root)).join("");
}

function describe({ name, file, line, details }, root) {
  const cause = details.error?.cause ?? details.error;
  const place = file === undefined ? "" : `${relative(root, pathOf(file))}:${line}\n`;
  const text = `${place}${inspect(cause, { depth: 4 })}`.slice(0, 4_000).replace(/^/gm, "#   ");
  return `#\n# FAILED: ${name}\n${text}\n`;
}

function pathOf(file) {
  return file.startsWith("file:") ? fileURLToPath(file) : file;
}
