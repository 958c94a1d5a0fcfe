import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Echo, startEcho } from "../../server/src/cli/echo.ts";
import { ROOT } from "../../server/test/places.ts";
import { copyDataDir } from "../../server/test/server/data-dir.ts";
import { API_KEY, type ServerProcess, startServer } from "../../server/test/server/server-process.ts";

const CLIENT = join(ROOT, "clients/python");
const NEEDED = "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 1)";
const skip =
  spawnSync("python3", ["-c", NEEDED]).status === 0
    ? false
    : "python3 of version 3.11 or newer is not installed";

/** Its own tests, in Python, and the example of its page. */
describe("the Python client, against a real server", { skip }, () => {
  let dataDir: string;
  let server: ServerProcess;
  let echo: Echo;

  before(async () => {
    dataDir = await copyDataDir();
    echo = await startEcho({ host: "127.0.0.1", port: 0, print: () => {} });
    server = await startServer({ BELLHOP_DATA_DIR: dataDir });
  });
  after(async () => {
    server.signal("SIGTERM");
    await server.exited;
    await echo.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  function python(args: readonly string[], input = ""): Promise<{ code: number; printed: string }> {
    const env = {
      PATH: process.env.PATH ?? "",
      PYTHONPATH: CLIENT,
      PYTHONDONTWRITEBYTECODE: "1",
      BELLHOP_URL: server.url,
      BELLHOP_API_KEY: API_KEY,
      TARGET: echo.url,
    };
    return new Promise((resolve) => {
      const child = execFile("python3", args, { env, cwd: CLIENT }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), printed: stdout + stderr }),
      );
      child.stdin?.end(input);
    });
  }

  it("passes its own tests, with every warning an error", async () => {
    const { code, printed } = await python(["-W", "error", "-m", "unittest", "discover", "-s", "test", "-v"]);
    assert.equal(code, 0, printed);
    assert.match(printed, /Ran \d\d tests/);
  });

  it("runs the examples of its README with the results they state", async () => {
    const page = await readFile(join(CLIENT, "README.md"), "utf8");
    const examples = [...page.matchAll(/```python\n([\s\S]*?)```/g)].map(([, example = ""]) => example);
    assert.ok(examples.length > 0);
    for (const example of examples) {
      const { code, printed } = await python(["-"], example.replaceAll("http://127.0.0.1:9000", echo.url));
      assert.equal(code, 0, `${example}\n${printed}`);
      for (const [, promised = ""] of example.matchAll(/print\(.*# (.+)$/gm))
        assert.ok(printed.includes(promised), `${promised} is missing: ${printed}`);
    }
  });
});
