import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { API } from "typescript/unstable/sync";
import { hashOf } from "./coverage.ts";

/** A value that is no longer used: a mutant that takes the last use of a name away is a bug all the same. */
const UNUSED = [6133, 6138, 6192, 6196, 6198, 6199, 6205];

/** Asks the compiler about one changed file after the other, a tenth of a second each. */
export interface Types {
  /** What the compiler says against the file, were this its text; null where it says nothing. */
  refusal(path: string, source: string): string | null;
  close(): void;
}

/** `config` is the path of a tsconfig.json. Only the file itself is checked, not what imports it. */
export function openTypes(config: string): Types {
  let changed: { readonly path: string; readonly source: string } | null = null;
  const api = new API({
    fs: { readFile: (path) => (path === changed?.path ? changed.source : undefined) },
  });
  let snapshot = api.updateSnapshot({ openProjects: [config] });

  /** The file as it is on disk again, and another one changed. */
  function change(path: string, source: string): void {
    const before = changed?.path ?? path;
    changed = { path, source };
    const next = api.updateSnapshot({ fileChanges: { changed: [...new Set([before, path])] } });
    snapshot.dispose();
    snapshot = next;
  }

  return {
    refusal(path, source) {
      change(path, source);
      const program = snapshot.getProject(config)?.program;
      if (program === undefined) throw new Error(`The compiler does not open ${config}`);
      const found = [...program.getSyntacticDiagnostics(path), ...program.getSemanticDiagnostics(path)].find(
        ({ code }) => !UNUSED.includes(code),
      );
      return found === undefined ? null : `${found.code} ${found.text}`;
    },
    close: () => api.close(),
  };
}

/** The same, kept in a file: what was asked before is not asked again, nor is the compiler started for it. */
export function rememberTypes(file: string, open: () => Types): Types {
  const known = new Map<string, string | null>(
    existsSync(file) ? Object.entries(JSON.parse(readFileSync(file, "utf8"))) : [],
  );
  let types: Types | null = null;
  return {
    refusal(path, source) {
      const key = hashOf(`${path} ${source}`);
      const before = known.get(key);
      if (before !== undefined) return before;
      types ??= open();
      const refusal = types.refusal(path, source);
      known.set(key, refusal);
      return refusal;
    },
    close() {
      if (types === null) return;
      types.close();
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(Object.fromEntries(known)));
    },
  };
}
