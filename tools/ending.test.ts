import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";

const ENDING = new URL("./ending.js", import.meta.url).href;

/** Runs a program that imports the endings, waits for its first line, signals it, and returns all that it wrote. */
async function writtenBy(program: string, signal: NodeJS.Signals): Promise<string> {
  const source = `import { endAtExit } from ${JSON.stringify(ENDING)}; setInterval(() => {}, 1000); ${program}; console.log("up");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let written = "";
  child.stdout.on("data", (text: Buffer) => {
    if (written === "") child.kill(signal);
    written += text;
  });
  await once(child, "close");
  return written;
}

describe("a clean-up at the end of the runner", () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    it(`runs after ${signal}, in reverse order of registration`, async () => {
      const program = 'for (const name of ["a", "b"]) endAtExit(() => console.log(name))';
      assert.equal(await writtenBy(program, signal), "up\nb\na\n");
    });

  it("runs although the signal is repeated", async () => {
    const program =
      'endAtExit(() => console.log("ended")); endAtExit(() => process.kill(process.pid, "SIGINT"))';
    assert.equal(await writtenBy(program, "SIGINT"), "up\nended\n");
  });

  it("runs although another clean-up fails", async () => {
    const program =
      'endAtExit(() => console.log("ended")); endAtExit(() => { throw new Error("not empty"); })';
    assert.equal(await writtenBy(program, "SIGINT"), "up\nended\n");
  });
});
