import { readdir } from "node:fs/promises";
import { register } from "node:module";
import { parentPort, Worker, workerData } from "node:worker_threads";
import type { Statement } from "../src/store/sql.ts";

/*
 * All statements that are made when the modules of the server are loaded, with their texts as PostgreSQL gets them. A worker thread
 * loads the modules a second time, with a `statement` that also keeps what it makes.
 */

const RECORDING = `
  export async function load(url, context, next) {
    const loaded = await next(url, context);
    if (!/\\/store\\/sql\\.[jt]s$/.test(url)) return loaded;
    const source = String(loaded.source).replace("export function statement(", "function make(") + \`
      export function statement(...given) {
        const made = make(...given);
        globalThis.statementsMade.push(made);
        return made;
      }\`;
    return { ...loaded, source };
  }`;

type Told = readonly Statement[] | { readonly error: string };

export async function listStatements(): Promise<readonly Statement[]> {
  const home = new URL("../src/", import.meta.url).href;
  const worker = new Worker(new URL(import.meta.url), { workerData: { home } });
  const told = await new Promise<Told>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  await worker.terminate();
  if ("error" in told) throw new Error(told.error);
  return told;
}

async function tellAll(home: string): Promise<Told> {
  const made: Statement[] = [];
  Object.assign(globalThis, { statementsMade: made });
  register(`data:text/javascript,${encodeURIComponent(RECORDING)}`);
  const files = await readdir(new URL(home), { recursive: true });
  for (const file of files.filter((name) => /^(?:store|features|postgres|service)\/.*\.[jt]s$/.test(name))) {
    if (!file.endsWith(".d.ts")) await import(new URL(file, home).href);
  }
  return made;
}

if (workerData?.home !== undefined)
  tellAll(workerData.home).then(
    (made) => parentPort?.postMessage(made),
    (error) => parentPort?.postMessage({ error: String(error) }),
  );
