import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { type Echo, startEcho } from "../../src/cli/echo.ts";
import { BELLHOP, FETCH_FLAGS, ROOT } from "../places.ts";
import { copyDataDir } from "./data-dir.ts";
import { API_KEY, type Json, type ServerProcess, startServer, until } from "./server-process.ts";

/**
 * The pages' own examples, run as a reader would run them: every block marked `<!-- runs -->`, in the order of the page.
 * The mark says what the text around the block promises: `prints <text>`, `refused with <text>`, or
 * `becomes <status> [with <text>]`, of the last task that the block made.
 */
const BLOCK = /(?:<!-- runs(?:: (.+?))? -->\n)?```sh\n([\s\S]*?)```/g;
const TASK = /"id":"(task_[0-9a-z]{26}|[0-9a-f]{8}-[0-9a-f-]{27})"/g;
/** What a reader puts in by hand, from the answers so far. */
const PLACEHOLDERS: readonly (readonly [RegExp, RegExp])[] = [
  [/\btask_…/g, /task_[0-9a-z]{26}/g],
  [/\bbulk_…/g, /bulk_[0-9a-z]{26}/g],
  [/\bbh_test_…/g, /bh_test_\w+/g],
  [/\balr_…/g, /alr_[0-9a-z]{26}/g],
  [/\bwh_…/g, /wh_[0-9a-z]{26}/g],
  [/\btok_…/g, /tok_[0-9a-z]{26}/g],
  [/\b[0-9a-f]{4}…/g, /(?<="callbackId":")[0-9a-f]{64}/g],
];
const CURL_FAILED_BY_STATUS = 22;
/** Reads a stream of events up to this line, however long a busy server takes: the page names seconds. */
const READ_UNTIL = `ready=$(mktemp -u)
read_until() (
  wanted=$1; shift
  exec 3< <(exec curl -N --retry 0 --max-time 60 "$@")
  while IFS= read -r line <&3; do
    printf '%s\\n' "$line"
    if [[ $line == "event: ready" ]]; then : > "$ready"; fi
    if [[ $line == "$wanted" ]]; then kill $!; exit; fi
  done
)
until_ready() { until [ -e "$ready" ]; do sleep 0.05; done; rm "$ready"; }`;

interface Example {
  readonly promise: string | undefined;
  readonly script: string;
}

async function examplesOf(page: string): Promise<{ readonly marked: Example[]; readonly unmarked: number }> {
  const text = await readFile(join(ROOT, page), "utf8");
  const all = [...text.matchAll(BLOCK)];
  const marked = all.filter(([block]) => block.startsWith("<!--"));
  return {
    marked: marked.map(([, promise, script = ""]) => ({ promise, script })),
    unmarked: all.length - marked.length,
  };
}

/** Readers at once: some wait for what is due in a second, but all together they would ask more of the server than a reader does. */
const READERS = 4;

describe("the examples of the documentation", { concurrency: READERS }, () => {
  let home: string;
  let server: ServerProcess;
  let echo: Echo;

  before(async () => {
    home = await copyDataDir();
    // As good clients do, a reader tries again when a busy server answers 503.
    await writeFile(join(home, ".curlrc"), "silent\nshow-error\nfail-with-body\nretry = 5\n");
    echo = await startEcho({ host: "127.0.0.1", port: 0, print: () => {} });
    server = await startServer({ BELLHOP_DATA_DIR: home });
  });
  after(async () => {
    server.signal("SIGTERM");
    await server.exited;
    await echo.stop();
    await rm(home, { recursive: true, force: true });
  });

  for (const page of [
    "README.md",
    "docs/quickstart.md",
    "docs/recipes.md",
    "docs/tasks.md",
    "docs/retries.md",
    "docs/vault.md",
    "docs/providers-and-callbacks.md",
    "docs/beyond-one-database.md",
    "docs/cli.md",
    "docs/mcp.md",
    "docs/production.md",
    "docs/api.md",
    "docs/deduplication.md",
    "docs/cancel-and-retry.md",
    "docs/alerts.md",
    "docs/bulk.md",
    "docs/events.md",
    "docs/schedules.md",
    "docs/flow-control.md",
    "docs/sandbox.md",
  ]) {
    it(`of ${page} do what the page promises`, async () => {
      const { marked } = await examplesOf(page);
      assert.ok(marked.length > 0, "nothing is marked to run");
      const reader = createReader();
      for (const { promise, script } of marked) {
        const [, verb = "exits", detail = ""] =
          /^(prints|refused with|becomes) (.+)$/.exec(promise ?? "") ?? [];
        const { code, printed } = await reader.run(script, detail);
        const story = `${script}\nprinted:\n${printed}`;
        assert.equal(code, verb === "refused with" ? CURL_FAILED_BY_STATUS : 0, story);
        if (verb === "becomes") await becomes(printed, detail);
        else
          assert.ok(printed.toLowerCase().includes(detail.toLowerCase()), `${detail} is missing: ${story}`);
      }
    });
  }

  it("of README.md leave it at no more than 120 lines", async () => {
    const lines = (await readFile(join(ROOT, "README.md"), "utf8")).trimEnd().split("\n");
    assert.ok(lines.length <= 120, `${lines.length} lines: move something to docs/`);
  });

  it("of docs/api.md are all marked to run", async () => {
    assert.equal((await examplesOf("docs/api.md")).unmarked, 0);
  });

  /** Somebody at a shell, who copies block after block and keeps what was exported. */
  function createReader() {
    const exported: string[] = [];
    let seen = "";
    const fill = (line: string, awaited: string) =>
      PLACEHOLDERS.reduce(
        (text, [placeholder, value]) => text.replace(placeholder, seen.match(value)?.at(-1) ?? "not-seen"),
        line.replace(/\bbh_live_…/g, API_KEY),
      )
        .replaceAll("http://127.0.0.1:8787", server.url)
        .replaceAll("http://127.0.0.1:9000", echo.url)
        .replace(/\$\(curl -N --max-time \d+/g, "$(read_until 'event: ready'")
        .replace(/curl -N --max-time \d+/g, `read_until '${awaited}'`)
        .replace(/^sleep 1$/, awaited.startsWith("event: ") ? "until_ready" : "$&")
        .replaceAll("npm run bellhop --", `node ${FETCH_FLAGS.join(" ")} "${BELLHOP}"`);

    async function runPart(lines: readonly string[], awaited: string) {
      const script = lines.map((line) => fill(line, awaited)).join("\n");
      const { code, printed } = await bash([READ_UNTIL, ...exported, script].join("\n"));
      exported.push(...script.split("\n").filter((line) => line.startsWith("export ")));
      seen += printed;
      return { code, printed };
    }

    return {
      /** In parts: a line with a placeholder needs the answers before it. */
      async run(script: string, awaited: string) {
        const parts: string[][] = [[]];
        for (const line of script.split("\n")) {
          if (line.includes("…")) parts.push([]);
          parts.at(-1)?.push(line);
        }
        let all = { code: 0, printed: "" };
        for (const part of parts) {
          if (all.code !== 0) break;
          const { code, printed } = await runPart(part, awaited);
          all = { code, printed: all.printed + printed };
        }
        return all;
      },
    };
  }

  async function bash(script: string): Promise<{ code: number; printed: string }> {
    const env = { PATH: process.env.PATH, HOME: home, BELLHOP_DATA_DIR: home };
    const run = promisify(execFile)("bash", ["--norc", "-e", "-c", script], { cwd: ROOT, env });
    const { code = 0, stdout, stderr } = await run.catch((error) => error);
    return { code, printed: stdout + stderr };
  }

  async function becomes(printed: string, detail: string): Promise<void> {
    const [status, text = ""] = detail.split(" with ");
    const id = [...printed.matchAll(TASK)].at(-1)?.[1];
    assert.ok(id !== undefined, `no task was made: ${printed}`);
    const read = async () => (await server.api("GET", `/v1/tasks/${id}`)).json;
    let record: Json = await read();
    await until(async () => {
      record = await read();
      return ["completed", "failed", status].includes((record.task ?? record).status);
    });
    assert.equal((record.task ?? record).status, status, JSON.stringify(record));
    assert.ok(JSON.stringify(record).includes(text), `${text} is missing: ${JSON.stringify(record)}`);
  }
});
