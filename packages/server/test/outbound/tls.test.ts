import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createSecureContext } from "node:tls";
import { fileURLToPath } from "node:url";
import { until } from "../patience.ts";
import {
  assertFailure,
  call,
  connectionClosed,
  httpTarget,
  listen,
  newCaller,
  PATIENT,
  tcpTarget,
} from "./target.ts";

let directory = "";
let key = "";
let cert = "";

before(() => {
  directory = mkdtempSync(join(tmpdir(), "bellhop-tls-"));
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-subj", "/CN=shop.test", "-addext", "subjectAltName=DNS:shop.test", "-days", "2"];
  const files = ["-keyout", join(directory, "key.pem"), "-out", join(directory, "cert.pem")];
  execFileSync("openssl", [...request, ...subject, ...files], { stdio: "ignore" });
  key = readFileSync(join(directory, "key.pem"), "utf8");
  cert = readFileSync(join(directory, "cert.pem"), "utf8");
});

after(() => rmSync(directory, { recursive: true, force: true }));

const lookup = async () => ["127.0.0.1"];

describe("a call over TLS", () => {
  it("fails with tls_error for a self-signed certificate, before the request is sent", async () => {
    const names: string[] = [];
    let requests = 0;
    const server = createServer(
      {
        key,
        cert,
        SNICallback: (name, done) => {
          names.push(name);
          done(null, createSecureContext({ key, cert }));
        },
      },
      (_request, response) => {
        requests += 1;
        response.end();
      },
    );
    server.on("tlsClientError", () => {});
    const { port } = await listen(server);

    const outcome = await newCaller({ lookup }).call(call(`https://shop.test:${port}/`), PATIENT);

    assertFailure(outcome);
    assert.equal(outcome.code, "tls_error");
    assert.equal(outcome.phase, "not_sent");
    assert.equal(outcome.message, "The certificate of host shop.test is self-signed");
    assert.deepEqual(names, ["shop.test"]);
    assert.equal(requests, 0);
  });

  it("fails with tls_error when the target speaks plain HTTP", async () => {
    const target = await httpTarget((_request, response) => response.end());
    const outcome = await newCaller().call(call(`https://127.0.0.1:${target.port}/`), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "tls_error");
    assert.equal(outcome.message, "No TLS connection could be agreed with host 127.0.0.1");
  });

  it("fails with connection_reset when the target closes during the handshake", async () => {
    const target = await tcpTarget((socket) => socket.once("data", () => socket.end()));
    const outcome = await newCaller().call(call(`https://127.0.0.1:${target.port}/`), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "connection_reset");
    assert.equal(outcome.phase, "not_sent");
  });

  it("fails with connect_timeout when the handshake hangs, and closes the connection", async () => {
    const target = await tcpTarget((socket) => socket.resume());
    const caller = newCaller({ connectTimeoutMs: 1_000 });
    const outcome = await caller.call(call(`https://127.0.0.1:${target.port}/`), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "connect_timeout");
    assert.equal(outcome.phase, "not_sent");
    assert.equal(outcome.message, "Host 127.0.0.1 did not accept the connection in time");
    await connectionClosed(target);
  });

  it("closes the connection of a handshake in progress when it is destroyed", async () => {
    const target = await tcpTarget((socket) => socket.resume());
    const caller = newCaller();
    const outcome = caller.call(call(`https://127.0.0.1:${target.port}/`), PATIENT);
    await until(() => target.sockets[0] !== undefined);
    caller.destroy();
    assert.equal((await outcome).kind, "failure");
    await connectionClosed(target);
  });

  // Node reads further authorities only when it starts, hence another process.
  it("accepts a trusted certificate for the name, and refuses it for another name", async () => {
    const server = createServer({ key, cert }, (request, response) =>
      response.end(`hello ${request.headers.host}`),
    );
    server.on("tlsClientError", () => {});
    const { port } = await listen(server);
    const caller = fileURLToPath(new URL("../../src/outbound/caller.js", import.meta.url));
    const script = `
      import { createCaller } from ${JSON.stringify(caller)};
      const guard = { check: () => ({ allowed: true }) };
      const caller = createCaller({ userAgent: "x", guard, lookup: async () => ["127.0.0.1"] });
      const options = { timeoutMs: 10_000, headers: {} };
      const send = (host) => caller.call({ method: "GET", url: "https://" + host + ":${port}/", headers: {}, body: null }, options);
      const outcomes = [await send("shop.test"), await send("other.test"), await send("127.0.0.1")];
      await caller.stop();
      console.log(JSON.stringify(outcomes.map(({ kind, code, body, message }) => ({ kind, code, body, message }))));
    `;
    const child = await run(script, { NODE_EXTRA_CA_CERTS: join(directory, "cert.pem") });
    assert.deepEqual(JSON.parse(child), [
      { kind: "response", body: `hello shop.test:${port}` },
      {
        kind: "failure",
        code: "tls_error",
        message: "The certificate of host other.test is for another host",
      },
      {
        kind: "failure",
        code: "tls_error",
        message: "The certificate of host 127.0.0.1 is for another host",
      },
    ]);
  });
});

async function run(script: string, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, ...env, NODE_TEST_CONTEXT: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, "close");
  return output;
}
