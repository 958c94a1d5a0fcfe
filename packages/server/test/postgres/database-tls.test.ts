import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { freePort } from "../../../../tools/free-port.ts";
import { Problem } from "../../src/domain/problem.ts";
import { type ChildRun, runBinary } from "../../src/postgres/child-run.ts";
import { explainDatabaseFailure } from "../../src/postgres/database-failure.ts";
import { splitDatabaseUrl } from "../../src/postgres/database-url.ts";
import { giveTo } from "../../src/postgres/disk.ts";
import { chooseIdentity } from "../../src/postgres/identity.ts";
import { assertOwnSessions } from "../../src/postgres/pooler.ts";
import { createPrimary } from "../../src/postgres/primary.ts";
import { ensureRuntime, findBinaries } from "../../src/postgres/runtime.ts";
import { settingFlags } from "../../src/postgres/settings.ts";
import { connectionTo, makeSocketDir, removeSocketDir } from "../../src/postgres/socket-dir.ts";
import { copyDataDir } from "../server/data-dir.ts";
import { launch, until } from "../server/server-process.ts";

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("a PostgreSQL that only accepts TLS and has a self-signed certificate", () => {
  let dataDir: string;
  let socketDir: string;
  let certificate: string;
  let port: number;
  let run: ChildRun;

  before(async () => {
    dataDir = await copyDataDir();
    await chmod(dataDir, 0o711);
    const pgdata = join(dataDir, "pgdata");
    const identity = await chooseIdentity(pgdata);
    certificate = join(dataDir, "server.crt");
    const key = join(pgdata, "server.key");
    const subject = ["-subj", "/CN=database", "-addext", "subjectAltName=IP:127.0.0.1"];
    const files = ["-nodes", "-days", "2", "-keyout", key, "-out", certificate];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", ...files, ...subject], {
      stdio: "ignore",
    });
    const hba = join(pgdata, "tls_hba.conf");
    await writeFile(hba, "hostssl all all 127.0.0.1/32 trust\n");
    for (const path of [key, hba]) {
      await chmod(path, 0o600);
      await giveTo(identity, path);
    }
    await chmod(certificate, 0o644);
    socketDir = await makeSocketDir(identity);
    port = await freePort();
    const flags = settingFlags(connectionTo(socketDir, { admin: "", app: "" }, port), {
      hba_file: hba,
      listen_addresses: "127.0.0.1",
      ssl: "on",
      ssl_cert_file: certificate,
      ssl_key_file: key,
    });
    const binary = join(await ensureRuntime(await findBinaries(), dataDir), "bin", "postgres");
    run = runBinary(binary, ["-D", pgdata, ...flags], identity, () => {});
    await until(async () => {
      if (run.child.exitCode !== null) throw new Error((await run.exited).lastLines.join("\n"));
      const client = new pg.Client({ connectionString: url("no-verify") });
      return client
        .connect()
        .then(() => client.end())
        .then(
          () => true,
          () => false,
        );
    });
  });
  after(async () => {
    run.child.kill("SIGINT");
    await run.exited;
    await removeSocketDir(socketDir);
    await rm(dataDir, { recursive: true, force: true });
  });

  /** With TLS as these parameters say. */
  function url(sslmode: string, { host = "127.0.0.1", root = "", at = port } = {}): string {
    const mode = sslmode === "" ? "" : `sslmode=${sslmode}`;
    const trust = root === "" ? "" : `&sslrootcert=${encodeURIComponent(root)}`;
    return `postgres://bellhop_app:s3cret@${host}:${at}/bellhop?${mode}${trust}`;
  }

  /** What an operator is told; null if the server can be used. */
  async function complaintOf(databaseUrl: string): Promise<string | null> {
    return assertOwnSessions({ connectionString: databaseUrl }).then(
      () => null,
      (error: unknown) => explainDatabaseFailure(error, databaseUrl),
    );
  }

  it("is refused with sslmode=require, and the error says to add sslrootcert", async () => {
    const server = launch({ DATABASE_URL: url("require") });
    assert.equal(await server.exited, 1);
    const line = server.stderr.trimEnd().split("\n").at(-1) ?? "";
    assert.ok(
      line.startsWith(
        `PostgreSQL at 127.0.0.1:${port} answered, but its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT). ` +
          "Add sslrootcert=/path/to/ca.pem to DATABASE_URL, ",
      ),
      line,
    );
    assert.doesNotMatch(server.stderr, /s3cret/);
  });

  it("is refused with every sslmode but no-verify, and accepted with sslrootcert", async () => {
    for (const mode of ["allow", "prefer", "require", "verify-ca", "verify-full"]) {
      assert.match((await complaintOf(url(mode))) ?? "", /its certificate is not trusted/, mode);
      assert.equal(await complaintOf(url(mode, { root: certificate })), null, mode);
    }
    assert.equal(await complaintOf(url("no-verify")), null);
    assert.equal(await complaintOf(`${url("require")}&uselibpqcompat=true`), null);
  });

  it("is refused for a host name that its certificate does not have", async () => {
    const named = { host: "localhost", root: certificate };
    assert.equal(
      await complaintOf(url("verify-full", named)),
      `PostgreSQL at localhost:${port} answered, but its certificate is for another host: ` +
        "Host: localhost. is not cert's CN: database (ERR_TLS_CERT_ALTNAME_INVALID). " +
        "Let DATABASE_URL name a host that the certificate names, or replace the certificate.",
    );
    assert.equal(await complaintOf(`${url("verify-ca", named)}&uselibpqcompat=true`), null);
  });

  it("refuses a connection without TLS, and the error says to add sslmode", async () => {
    assert.match(
      (await complaintOf(url(""))) ?? "",
      /accepts the role "bellhop_app" only over TLS: .*\(28000\)\. Add sslmode=verify-full to DATABASE_URL\.$/,
    );
  });

  it("is listed with the reason when DATABASE_URL has several servers", async () => {
    const away = await freePort();
    const urls = splitDatabaseUrl(
      url("verify-full").replace(`127.0.0.1:${port}`, `127.0.0.1:${away},127.0.0.1:${port}`),
    );
    await assert.rejects(createPrimary(urls, () => {}).find(), {
      message:
        `None of the servers in DATABASE_URL can be written to: 127.0.0.1:${away} cannot be used (ECONNREFUSED); ` +
        `127.0.0.1:${port} answered, but its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT).`,
    });
  });

  it("is not contacted when a file of DATABASE_URL cannot be read, which the error names", async () => {
    const server = launch({ DATABASE_URL: url("verify-full", { root: "/nowhere/ca.pem" }) });
    assert.equal(await server.exited, 1);
    assert.equal(
      server.stderr,
      "DATABASE_URL names the file /nowhere/ca.pem, which cannot be read (ENOENT). Correct its sslrootcert, sslcert or sslkey.\n",
    );
  });

  it("is refused with OpenSSL's reason when sslcert is not a certificate", async () => {
    const other = join(dataDir, "other.pem");
    await writeFile(other, "not a certificate");
    assert.match(
      (await complaintOf(`${url("no-verify")}&sslcert=${other}&sslkey=${other}`)) ?? "",
      /answered, but TLS with it failed: .*\(ERR_OSSL_\w+\)\. Correct sslmode, sslrootcert, sslcert and sslkey/,
    );
  });

  it("is distinguished from a server that offers no TLS", async (test) => {
    const plain = createServer((socket) => socket.once("data", () => socket.end("N")));
    const at = await listen(plain);
    test.after(() => plain.close());
    assert.equal(
      await complaintOf(url("require", { at })),
      `PostgreSQL at 127.0.0.1:${at} answered, but it offers no TLS, and DATABASE_URL (or PGSSLMODE) asks for it. ` +
        "Set ssl = on in its postgresql.conf, or sslmode=disable in DATABASE_URL where the network is safe.",
    );
  });
});

describe("the error for a PostgreSQL certificate", () => {
  const explain = (code: string) =>
    explainDatabaseFailure(
      new Problem("database_away", {}, { cause: Object.assign(new Error("no"), { code }) }),
      "postgres://db.test/bellhop?sslmode=verify-full",
    );

  it("says that it is not trusted for every kind of unknown signature", () => {
    for (const code of [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    ])
      assert.ok(
        explain(code)?.startsWith(
          `PostgreSQL at db.test:5432 answered, but its certificate is not trusted (${code}). Add sslrootcert=`,
        ),
        code,
      );
  });

  it("says that it has expired", () => {
    assert.equal(
      explain("CERT_HAS_EXPIRED"),
      "PostgreSQL at db.test:5432 answered, but its certificate has expired (CERT_HAS_EXPIRED). " +
        "Renew it on the database server, or set the clock of this machine.",
    );
  });
});
