import assert from "node:assert/strict";
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createBellhop, handler, type ReceivedCall } from "@bellhop/sdk";
import { BELLHOP, FETCH_FLAGS } from "../places.ts";
import { type Json, until } from "./server-process.ts";

const TASK_ID = /^task_\w{26}\n$/;

/** False where the shell is there. */
function skipWithout(shell: string): string | false {
  return spawnSync(shell, ["--version"]).status === 0 ? false : `${shell} is not installed`;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The commands of a user, against what `bellhop dev` starts. */
describe("the bellhop command of a user", () => {
  let home: string;
  let dev: Json;
  let end: () => Promise<number | null>;

  function bellhop(environment: Record<string, string>, args: readonly string[], input = ""): Promise<Ran> {
    const env = { PATH: process.env.PATH ?? "", XDG_CONFIG_HOME: home, ...environment };
    return new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [...FETCH_FLAGS, BELLHOP, ...args],
        { env },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
      child.stdin?.end(input);
    });
  }
  const run = (...args: string[]) => bellhop({ BELLHOP_URL: dev.url, BELLHOP_API_KEY: dev.apiKey }, args);
  const done = async (...args: string[]) => {
    const ran = await run(...args);
    assert.equal(ran.code, 0, ran.stderr);
    return ran.stdout;
  };

  before(async () => {
    home = await mkdtemp(join(tmpdir(), "bellhop-user-"));
    const args = [BELLHOP, "dev", "--port", "0", "--echo-port", "0", "--json"];
    // A developer's shell may name another database; it is not touched.
    const env = { PATH: process.env.PATH ?? "", DATABASE_URL: "postgres://elsewhere/prod" };
    const child = spawn(process.execPath, args, { env });
    let printed = "";
    let complaints = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    child.stderr.on("data", (chunk) => {
      complaints += chunk;
    });
    const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
    end = () => {
      child.kill("SIGINT");
      return exited;
    };
    await until(() => printed.endsWith("\n") || child.exitCode !== null);
    assert.notEqual(printed, "", complaints);
    dev = JSON.parse(printed);
  });
  after(async () => {
    await end();
    await rm(home, { recursive: true, force: true });
  });

  it("finds sample tasks, a queue and a dashboard link after bellhop dev", async () => {
    assert.match(dev.dashboard, /^http:\/\/127\.0\.0\.1:\d+\/\S+/);
    const tasks = JSON.parse(await done("tasks", "list", "--tag", "sample", "--json"));
    assert.equal(tasks.length, 5);
    assert.match(
      await done("tasks", "list", "--queue", "demo"),
      /^QUEUE +STATUS +CREATED +CALLS +ID\n(demo .+\n){4}$/,
    );
    assert.match(await done("queues", "list"), /^demo +2 /m);
  });

  it("creates a task and waits for its end, which sets the exit code", async () => {
    const completed = await done(
      ...[
        "tasks",
        "create",
        `${dev.echo}/echo`,
        "--payload",
        '{"user":42}',
        "--tag",
        "a",
        "--wait",
        "--json",
      ],
    );
    const task = JSON.parse(completed);
    assert.deepEqual([task.status, task.tags], ["completed", ["a"]]);
    assert.match(await done("tasks", "get", task.id), /^ {2}result {5}200 .*\\"user\\":42/m);

    const failed = await run("tasks", "create", `${dev.echo}/status/500`, "--max-retries", "0", "--wait");
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, /^task_\w{26} {2}failed\n[\s\S]*attempt 1 {2}failed, 500, /);
    const again = failed.stdout.slice(0, 31);
    assert.equal(await done("tasks", "retry", again), `${again} is pending\n`);
    assert.equal((await run("tasks", "wait", again)).code, 1);
  });

  it("explains why a task does not run, and cancels it", async () => {
    const file = { queue: "default", webhook_url: dev.echo, delay: 3600 };
    const environment = { BELLHOP_URL: dev.url, BELLHOP_API_KEY: dev.apiKey };
    const { stdout } = await bellhop(environment, ["tasks", "create", "--from", "-"], JSON.stringify(file));
    assert.match(stdout, TASK_ID);
    const id = stdout.trim();
    assert.match(await done("explain", id), new RegExp(`^${id} is pending\n  .+, until \\d{4}-`));
    assert.equal(await done("tasks", "cancel", id), `${id} is cancelled\n`);
  });

  it("prints events as they happen", async () => {
    const tail = run("tasks", "tail", "--queue", "tailed", "--count", "2", "--json");
    await done("queues", "create", "tailed");
    assert.equal(await done("queues", "pause", "tailed"), "tailed is paused\n");
    assert.equal(await done("queues", "resume", "tailed"), "tailed is resumed\n");
    let isOver = false;
    const seen = tail.finally(() => {
      isOver = true;
    });
    // The stream may open at any moment: something happens until it has told of it.
    const { queues } = createBellhop({ url: dev.url, apiKey: dev.apiKey });
    await until(async () => {
      await queues.pause("tailed");
      await queues.resume("tailed");
      return isOver;
    });
    const types = (await seen).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).type);
    assert.equal(types.length, 2);
    for (const type of types) assert.match(type, /^queue\./);
    assert.equal(await done("queues", "delete", "tailed"), "Deleted tailed\n");
  });

  it("stores a credential from standard input, and creates and revokes keys", async () => {
    const environment = { BELLHOP_URL: dev.url, BELLHOP_API_KEY: dev.apiKey };
    const stored = await bellhop(
      environment,
      ["vault", "add", "vendor", "--host", "api.example.com"],
      "Bearer s3cret\n",
    );
    assert.match(stored.stdout, /^tok_\w{26}\n$/, stored.stderr);
    assert.equal((await bellhop(environment, ["vault", "add", "vendor"])).code, 1);

    assert.match(await done("keys", "create", "mine", "--test"), /^bh_test_\w+\n$/);
    const mine = JSON.parse(await done("keys", "list", "--json")).find((key: Json) => key.name === "mine");
    assert.equal(await done("keys", "revoke", mine.id), `Revoked ${mine.id}\n`);
  });

  it("stores a profile in a file that only the user can read", async () => {
    const named = ["login", dev.url, "--name", "here"];
    const refused = await bellhop({}, named, "bh_live_00000000000000000000000000000000");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /\(401 api_key_invalid, request \S+\)\n$/);
    assert.equal((await bellhop({}, ["queues", "list"])).code, 1, "nothing was kept");

    const { stdout } = await bellhop({}, named, `${dev.apiKey}\n`);
    assert.match(stdout, /^The profile here is Operator at http/);
    const file = join(home, "bellhop", "profiles.json");
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match((await bellhop({}, ["queues", "list"])).stdout, /^demo /m);
    assert.match((await bellhop({}, ["profile"])).stdout, /^\* {2}here {2}http/m);

    const elsewhere = await bellhop({ BELLHOP_URL: "http://127.0.0.1:1" }, ["queues", "list"]);
    assert.match(elsewhere.stderr, /so its key is not sent there/);
    await chmod(file, 0o644);
    assert.match((await bellhop({}, ["queues", "list"])).stderr, /others can read it: chmod 600/);
    await chmod(file, 0o600);
    await bellhop({}, ["profile", "remove", "here"]);
    assert.equal((await bellhop({}, ["queues", "list"])).code, 1);
  });

  it("checks a server, and advises about one that does not answer", async () => {
    const well = await run("doctor", "--json");
    assert.equal(well.code, 0, well.stdout);
    const { findings } = JSON.parse(well.stdout);
    assert.deepEqual(
      findings.map(({ check, state }: Json) => [check, state]),
      ["server", "ready", "version", "clock", "key", "exposure", "vault", "PostgreSQL", "nodes"].map(
        (check) => [check, "ok"],
      ),
    );
    const unwell = await bellhop({ BELLHOP_URL: "http://127.0.0.1:59", BELLHOP_API_KEY: dev.apiKey }, [
      "doctor",
    ]);
    assert.equal(unwell.code, 1);
    assert.match(unwell.stdout, /^XX {2}server .*cannot be reached: ECONNREFUSED\n +→ Start it/);
    const stranger = await bellhop({ BELLHOP_URL: dev.url, BELLHOP_API_KEY: `bh_live_${"0".repeat(40)}` }, [
      "doctor",
    ]);
    assert.match(stranger.stdout, /^XX {2}key /m);
  });

  it("exits with 2 for a usage error, and with 1 for a failure", async () => {
    for (const args of [["tasks", "create"], ["tasks", "list", "--status", "done"], ["queues"]])
      assert.equal((await run(...args)).code, 2, args.join(" "));
    const { code, stderr } = await run("tasks", "get", "task_00000000000000000000000000");
    assert.equal(code, 1);
    assert.match(stderr, /^Task not found \(404 task_not_found, request \S+\)\n$/);
  });

  it("completes commands and options in bash", async () => {
    const script = await done("completion", "bash");
    const complete = (...words: string[]) => {
      const quoted = words.map((word) => `'${word}'`).join(" ");
      const ask = `COMP_WORDS=(bellhop ${quoted}); COMP_CWORD=${words.length}; _bellhop; echo "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", `${script}\n${ask}`], { encoding: "utf8" }).trim();
    };
    assert.equal(complete("sch"), "schedules");
    assert.equal(complete("tasks", "ca"), "cancel");
    assert.equal(complete("tasks", "create", "http://x", "--pay"), "--payload");
  });

  it("completes commands and options in zsh", { skip: skipWithout("zsh") }, async () => {
    const script = await done("completion", "zsh");
    // Without a terminal there is no completion system: what the function offers is printed instead.
    const frame = `compdef() { :; }; compadd() { shift; print -r -- "$@"; }`;
    const complete = (...words: string[]) => {
      const quoted = words.map((word) => `'${word}'`).join(" ");
      const ask = `words=(bellhop ${quoted}); CURRENT=${words.length + 1}; _bellhop`;
      return execFileSync("zsh", ["-f", "-c", `${frame}\n${script}\n${ask}`], { encoding: "utf8" }).split(
        /\s/,
      );
    };
    assert.ok(complete("").includes("schedules"));
    assert.ok(complete("tasks", "").includes("cancel"));
    assert.ok(complete("tasks", "create", "http://x", "--").includes("--payload"));
  });

  it("completes commands and options in fish", { skip: skipWithout("fish") }, async () => {
    const script = await done("completion", "fish");
    const complete = (line: string) =>
      execFileSync("fish", ["--no-config", "-c", `${script}\ncomplete -C '${line}'`], {
        encoding: "utf8",
        env: { PATH: process.env.PATH, HOME: home },
      }).trim();
    assert.equal(complete("bellhop sch"), "schedules");
    assert.equal(complete("bellhop tasks ca"), "cancel");
    assert.equal(complete("bellhop tasks create http://x --pay"), "--payload");
  });

  it("creates many tasks at once, and reports which were refused", async () => {
    const task = { queue: "default", webhookUrl: dev.echo, delay: 3600, tags: ["many"] };
    const lines = [task, { ...task, queue: "missing" }, { ...task, webhookUrl: "ftp://x" }, task];
    const environment = { BELLHOP_URL: dev.url, BELLHOP_API_KEY: dev.apiKey };
    const input = lines.map((line) => JSON.stringify(line)).join("\n");
    const batch = await bellhop(environment, ["tasks", "batch", "-"], input);
    assert.equal(batch.code, 1);
    assert.match(batch.stdout, /^(task_\w{26}\n){2}$/);
    assert.match(batch.stderr, /^Task 2: .+ \(queue_not_found\)\nTask 3: .+\n$/);

    const all = await bellhop(environment, ["tasks", "batch", "-", "--atomic"], JSON.stringify([task]));
    assert.match(all.stdout, TASK_ID, all.stderr);
    assert.equal(await done("tasks", "delete", all.stdout.trim()), `Deleted ${all.stdout.trim()}\n`);
    assert.match((await bellhop(environment, ["tasks", "batch", "-"], "{]")).stderr, /neither a JSON array/);
  });

  it("acts on all matching tasks, and requires --all to act on every task", async () => {
    assert.equal(await done("tasks", "bulk", "cancel", "--tag", "many", "--dry-run"), "2\n");
    const id = (await done("tasks", "bulk", "cancel", "--tag", "many")).trim();
    assert.match(id, /^bulk_\w{26}$/);
    await until(async () => /is completed/.test(await done("tasks", "bulk-status", id)));
    assert.match(await done("tasks", "bulk-status", id), /2 done and 0 skipped of 2\n$/);
    assert.equal(await done("tasks", "list", "--tag", "many", "--pick", "status"), "cancelled\ncancelled\n");
    assert.equal((await run("tasks", "bulk", "cancel")).code, 2);
    assert.equal((await run("tasks", "bulk", "cancel", "--all", "--tag", "many")).code, 2);
  });

  it("prints the field that --pick names", async () => {
    const id = (await done("tasks", "create", dev.echo, "--tag", "picked", "--wait", "--pick", "id")).trim();
    assert.equal(await done("tasks", "get", id, "--pick", "result.statusCode"), "200\n");
    assert.equal(await done("tasks", "get", id, "--pick", "tags"), "picked\n");
    assert.equal(await done("tasks", "list", "--tag", "picked", "--pick", "0.id"), `${id}\n`);
    assert.equal(await done("tasks", "list", "--tag", "nobody", "--pick", "id"), "");
    const wrong = await run("tasks", "get", id, "--pick", "resutl");
    assert.deepEqual([wrong.code, wrong.stderr], [1, 'There is nothing at "resutl" in the answer\n']);
  });

  it("forwards events and sandbox calls to a local endpoint, signed", async () => {
    const key = (await done("keys", "create", "listener", "--test")).trim();
    const { secret } = await createBellhop({ url: dev.url, apiKey: dev.apiKey }).signingSecret.get();
    const environment = { BELLHOP_URL: dev.url, BELLHOP_API_KEY: key, BELLHOP_SIGNING_SECRET: secret };
    const received: { url: string | undefined; call: ReceivedCall }[] = [];
    const endpoint = createServer((request, response) =>
      handler({ secret }, (call) => {
        received.push({ url: request.url, call });
      })(request, response),
    );
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    const forward = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hooks`;
    try {
      const args = ["listen", "--forward", forward, "--calls", "--type", "task.created", "--count", "1"];
      let isOver = false;
      const listening = bellhop(environment, args).finally(() => {
        isOver = true;
      });
      const task = {
        queue: "default",
        // A path of two slashes must not be taken for another host.
        webhook_url: "https://shop.example//other.example/mail?to=1",
        payload: { user_id: 42 },
      };
      // The stream may open at any moment: tasks are made until it has told of one.
      while (!isOver) await bellhop(environment, ["tasks", "create", "--from", "-"], JSON.stringify(task));
      const { code, stdout, stderr } = await listening;
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^task\.created (task_\w+) → 204\ncall \1 → 204\n$/);
      const [event, call] = received;
      assert.deepEqual([event?.url, call?.url], ["/hooks", "//other.example/mail?to=1"]);
      assert.equal(event?.call.notification?.type, "task.created");
      assert.deepEqual(call?.call.payload, { user_id: 42 });
      assert.equal(call?.call.taskId, event?.call.taskId);
      const live = await run("listen", "--forward", forward, "--calls");
      assert.match(live.stderr, /^--calls needs a test key/);
    } finally {
      endpoint.closeAllConnections();
      endpoint.close();
    }
  });

  it("ends bellhop dev on Ctrl-C, and removes its data directory", async () => {
    assert.equal(await end(), 0);
    await assert.rejects(stat(dev.dataDir));
  });
});
