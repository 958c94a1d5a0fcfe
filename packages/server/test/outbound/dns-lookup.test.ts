import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createDnsLookup, type DnsLookupOptions } from "../../src/outbound/dns-lookup.ts";
import { createEgressGuard } from "../../src/outbound/egress-guard.ts";
import { parseHosts } from "../../src/outbound/hosts-file.ts";
import { dnsServer, type Zone } from "./dns-server.ts";
import { assertFailure, assertResponse, call, httpTarget, newCaller, PATIENT } from "./target.ts";

const V6 = "2606:4700:0:0:0:0:0:1111";
const NOWHERE = "/nonexistent/hosts";

/** A lookup that asks a server of the test's own, in a time of the test's own. */
async function scene(zone: Zone, options: DnsLookupOptions & { silentFor?: "AAAA" } = {}) {
  const { asked, server } = await dnsServer(zone, options.silentFor);
  const clock = { ms: 0 };
  const lookup = createDnsLookup({
    servers: [server],
    hostsFile: NOWHERE,
    nowMs: () => clock.ms,
    ...options,
  });
  /** As the line asks: what is known first. */
  const find = (name: string) => lookup.recall?.(name) ?? lookup(name);
  return { asked, clock, find, lookup, zone };
}

describe("a DNS lookup", () => {
  it("asks for the name as written, without search domains, in both families, IPv4 first", async () => {
    const { asked, find } = await scene({ shop: { addresses: [V6, "8.8.8.8", "8.8.4.4"], ttl: 60 } });
    assert.deepEqual(await find("shop"), ["8.8.8.8", "2606:4700::1111", "8.8.4.4"]);
    assert.deepEqual(asked.sort(), ["shop A", "shop AAAA"]);
  });

  it("caches addresses for their TTL, and for at most five minutes", async () => {
    const { asked, clock, find, zone } = await scene({
      "short.test": { addresses: ["8.8.8.8"], ttl: 30 },
      "long.test": { addresses: ["8.8.8.8"], ttl: 86_400 },
      "fleeting.test": { addresses: ["8.8.8.8"], ttl: 0 },
    });
    for (const name of ["short.test", "SHORT.test".toLowerCase(), "short.test.", "long.test"])
      await find(name);
    assert.equal(asked.length, 4);
    zone["short.test"] = { addresses: ["8.8.4.4"], ttl: 30 };
    clock.ms = 29_999;
    assert.deepEqual(await find("short.test"), ["8.8.8.8"]);
    clock.ms = 30_000;
    assert.deepEqual(await find("short.test"), ["8.8.4.4"]);
    assert.equal(asked.length, 6);
    clock.ms = 300_000;
    await find("long.test");
    assert.equal(asked.length, 8);
    await find("fleeting.test");
    await find("fleeting.test");
    assert.equal(asked.length, 12);
  });

  it("caches an unknown name and a server failure for at most five seconds", async () => {
    const { asked, clock, find } = await scene({ "broken.test": "failing" });
    assert.deepEqual(await find("nobody.test"), []);
    assert.deepEqual(await find("nobody.test"), []);
    assert.equal(asked.length, 2);
    await assert.rejects(find("broken.test"), { code: "ESERVFAIL" });
    const after = asked.length;
    await assert.rejects(find("broken.test"), { code: "ESERVFAIL" });
    assert.equal(asked.length, after);
    clock.ms = 5_000;
    await find("nobody.test");
    await assert.rejects(find("broken.test"));
    assert.ok(asked.length > after + 2);
  });

  it("fails at the deadline when no server answers", async () => {
    const { find } = await scene({ "hanging.test": "silent" }, { deadlineMs: 30 });
    await assert.rejects(find("hanging.test"), { code: "ECANCELLED" });
  });

  it("returns the IPv4 addresses when queries for IPv6 are not answered", async () => {
    const zone: Zone = { "shop.test": { addresses: ["8.8.8.8"], ttl: 60 } };
    const { find } = await scene(zone, { silentFor: "AAAA", deadlineMs: 200 });
    assert.deepEqual(await find("shop.test"), ["8.8.8.8"]);
  });

  it("reads the hosts file and localhost without a query", async () => {
    const directory = await mkdtemp(join(tmpdir(), "bellhop-hosts-"));
    after(() => rm(directory, { recursive: true }));
    const hostsFile = join(directory, "hosts");
    await writeFile(hostsFile, "10.9.8.7 db.corp # ours\n");
    const { asked, clock, find } = await scene({}, { hostsFile });
    assert.deepEqual(await find("db.corp"), ["10.9.8.7"]);
    assert.deepEqual(await find("localhost"), ["127.0.0.1", "::1"]);
    assert.deepEqual(await find("app.localhost"), ["127.0.0.1", "::1"]);
    await writeFile(hostsFile, "10.9.8.6 db.corp\n");
    clock.ms = 5_000;
    assert.deepEqual(await find("db.corp"), ["10.9.8.6"]);
    assert.deepEqual(asked, []);
  });

  it("returns all addresses that the hosts file has for a name", () => {
    const hosts = parseHosts(
      "127.0.0.1\tlocalhost DB.\r\n::1 localhost\nfe80::1%lo0 localhost\n# 1.1.1.1 db\nnonsense db\n",
    );
    assert.deepEqual(
      [...hosts],
      [
        ["localhost", ["127.0.0.1", "::1"]],
        ["db", ["127.0.0.1"]],
      ],
    );
  });
});

describe("calls to host names", () => {
  it("are checked at every connection, even with a cached address", async () => {
    const target = await httpTarget((_request, response) =>
      response.writeHead(200, { connection: "close" }).end("ok"),
    );
    const { asked, lookup } = await scene({ "shop.test": { addresses: ["127.0.0.1"], ttl: 60 } });
    const url = `http://shop.test:${target.port}/`;
    const open = newCaller({ lookup });
    assertResponse(await open.call(call(url), PATIENT));
    assertResponse(await open.call(call(url), PATIENT));
    assert.equal(asked.length, 2, "one question in each family");
    const strict = newCaller({ lookup, guard: createEgressGuard({ policy: "public", allow: [] }) });
    const outcome = await strict.call(call(url), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.equal(target.sockets.length, 2);
  });

  it("are delayed only for the team whose lookups hang", async () => {
    const target = await httpTarget((_request, response) => response.end("ok"));
    const zone: Zone = { "shop.test": { addresses: ["127.0.0.1"], ttl: 0 } };
    const names = Array.from({ length: 40 }, (_, index) => `hanging-${index}.test`);
    for (const name of names) zone[name] = "silent";
    const { asked, lookup } = await scene(zone);
    const caller = newCaller({ lookup, lookupsPerTeam: 4 });
    const ended = new AbortController();
    const hanging = names.map((name) =>
      caller.call(call(`http://${name}/`), { ...PATIENT, teamId: 1, signal: ended.signal }),
    );
    const url = `http://shop.test:${target.port}/`;
    const own = caller.call(call(url), { ...PATIENT, teamId: 1, timeoutMs: 50 });
    assertFailure(await own);
    const other = await caller.call(call(url), { ...PATIENT, teamId: 2, timeoutMs: 1_000 });
    assertResponse(other);
    assert.equal(new Set(asked.filter((each) => each.startsWith("hanging"))).size, 8, "4 names, 2 families");
    ended.abort();
    await Promise.all(hanging);
  });
});
