import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { createEgressGuard } from "../../src/outbound/egress-guard.ts";
import { fenceSockets } from "./egress-fence.ts";
import { fixedLookup } from "./lookup.ts";
import { assertFailure, assertResponse, call, httpTarget, listen, newCaller, PATIENT } from "./target.ts";

const { attempts } = fenceSockets();
const publicOnly = createEgressGuard({ policy: "public", allow: [] });
const allowing = (...allow: string[]) => createEgressGuard({ policy: "public", allow });

/** One sentence for every refusal: what our resolver said of a name is not the caller's to know. */
const refused = (host: string, port: number) =>
  `The egress policy refuses the call: host ${host} is private or reserved, or port ${port} is not for HTTP`;

/** A target that says at which of its addresses it was met, and hangs up. */
const doorman = () =>
  createServer((request, response) =>
    response.writeHead(200, { connection: "close" }).end(request.socket.localAddress),
  );

describe("the egress policy `any`", () => {
  it("allows this machine, by address and by name", async () => {
    const target = await listen(doorman());
    const { lookup } = fixedLookup({ localhost: ["127.0.0.1"] });
    const caller = newCaller({ guard: createEgressGuard({ policy: "any", allow: [] }), lookup });
    assertResponse(await caller.call(call(`http://127.0.0.1:${target.port}/`), PATIENT));
    assertResponse(await caller.call(call(`http://localhost:${target.port}/`), PATIENT));
    assert.equal(target.sockets.length, 2);
  });

  it("refuses no URL, not even of this machine", () => {
    const guard = createEgressGuard({ policy: "any", allow: [] });
    for (const url of ["http://127.0.0.1/", "https://localhost/", "http://10.0.0.1:25/", "http://[::1]/"]) {
      assert.equal(guard.refuseUrl(url), null, url);
    }
  });
});

describe("the egress policy `public`", () => {
  it("allows addresses of the public internet", () => {
    const addresses = [
      "1.1.1.1",
      "8.8.8.8",
      "93.184.216.34",
      "223.255.255.254",
      "2606:4700:4700::1111",
      "2a00:1450:4001:82a::200e",
      "::ffff:8.8.8.8",
      // How a machine without IPv4 sees 8.8.8.8.
      "64:ff9b::808:808",
    ];
    assert.deepEqual(publicOnly.checkName("api.example.com", 443), { allowed: true });
    assert.deepEqual(publicOnly.check("api.example.com", addresses, 443), { allowed: true });
    for (const address of addresses) {
      assert.deepEqual(publicOnly.check(address, [address], 80), { allowed: true }, address);
    }
    for (const url of [
      "https://api.example.com/x",
      "http://8.8.8.8:8080/",
      "https://[2606:4700:4700::1111]/",
    ]) {
      assert.equal(publicOnly.refuseUrl(url), null, url);
    }
  });

  // IANA's special-purpose registries: first and last address of each block, and the neighbours outside.
  for (const [before, first, last, after] of [
    [null, "0.0.0.0", "0.255.255.255", "1.0.0.0"],
    ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
    ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
    ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
    ["168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"],
    ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
    ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
    ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"],
    ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
    ["192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"],
    ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
    ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
    ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"],
    ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"],
    ["223.255.255.255", "224.0.0.0", "255.255.255.255", null],
    [null, "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", null],
    [null, "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"],
    ["2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"],
    ["2001:ffff::", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"],
    ["3ffe:ffff::", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"],
    ["3fff:ffff::", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", null],
  ] as const) {
    it(`refuses ${first} to ${last} and allows the neighbouring addresses`, () => {
      const allows = (address: string) => publicOnly.check("shop.test", [address], 443).allowed;
      assert.equal(allows(first), false);
      assert.equal(allows(last), false);
      for (const neighbour of [before, after]) {
        if (neighbour !== null) assert.equal(allows(neighbour), true, neighbour);
      }
    });
  }

  it("refuses the ports of other protocols for every host", () => {
    for (const port of [0, 22, 25, 587, 2049, 6000, 6667, 10080]) {
      const message = refused("shop.test", port);
      assert.deepEqual(publicOnly.checkName("shop.test", port), { allowed: false, message });
      assert.deepEqual(publicOnly.check("shop.test", ["8.8.8.8"], port), { allowed: false, message });
      const rule = `must not use port ${port}, which is not for HTTP`;
      assert.equal(publicOnly.refuseUrl(`https://shop.test:${port}/`), rule);
      assert.equal(publicOnly.refuseUrl(`http://8.8.8.8:${port}/`), rule);
    }
    for (const port of [80, 443, 3000, 5432, 6379, 8080, 8443, 65_535]) {
      assert.deepEqual(publicOnly.check("shop.test", ["8.8.8.8"], port), { allowed: true });
    }
  });

  it("gives the same message for a private name, a private address and a refused port", () => {
    assert.deepEqual(publicOnly.checkName("db.internal", 80), {
      allowed: false,
      message: refused("db.internal", 80),
    });
    const message = refused("shop.test", 80);
    assert.deepEqual(publicOnly.check("shop.test", ["10.0.0.7"], 80), { allowed: false, message });
    assert.deepEqual(publicOnly.check("shop.test", ["8.8.8.8", "169.254.169.254"], 80), {
      allowed: false,
      message,
    });
    assert.deepEqual(allowing("10.0.0.7:25").check("shop.test", ["8.8.8.8"], 25), {
      allowed: false,
      message: refused("shop.test", 25),
    });
  });

  it("refuses such a port before the lookup", async () => {
    const { lookup, asked } = fixedLookup({ "shop.test": ["127.0.0.1"] });
    const outcome = await newCaller({ guard: publicOnly, lookup }).call(
      call("http://shop.test:25/"),
      PATIENT,
    );
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.equal(outcome.phase, "not_sent");
    assert.deepEqual(asked, []);
  });

  it("uses the default port of a URL without one", () => {
    const guard = allowing("127.0.0.1:443", "[::1]:80");
    assert.equal(guard.refuseUrl("https://127.0.0.1/"), null);
    assert.notEqual(guard.refuseUrl("http://127.0.0.1/"), null);
    assert.equal(guard.refuseUrl("http://[::1]/"), null);
    assert.notEqual(guard.refuseUrl("https://[::1]/"), null);
  });
});

describe("the allow list", () => {
  for (const entry of ["127.0.0.1", "127.0.0.0/8", "0.0.0.0/0", "::ffff:127.0.0.1"]) {
    it(`allows 127.0.0.1 by ${entry}, in every spelling`, async () => {
      const target = await listen(doorman());
      const caller = newCaller({ guard: allowing(entry) });
      for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"]) {
        assertResponse(await caller.call(call(`http://${host}:${target.port}/`), PATIENT));
      }
      assert.equal(target.sockets.length, 4);
    });
  }

  it("allows one port and no others", async () => {
    const [front, back] = [await listen(doorman()), await listen(doorman())];
    const caller = newCaller({ guard: allowing(`127.0.0.1:${front.port}`) });
    assertResponse(await caller.call(call(front.url), PATIENT));
    const outcome = await caller.call(call(back.url), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.equal(back.sockets.length, 0);
  });

  it("allows one address and no neighbours", async () => {
    const target = await listen(doorman());
    const outcome = await newCaller({
      guard: allowing("127.0.0.2", "127.0.1.0/24", "::1", "10.0.0.0/8"),
    }).call(call(target.url), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.equal(target.sockets.length, 0);
  });

  it("allows a listed name with any address, and no other name", async () => {
    const target = await listen(doorman());
    const { lookup } = fixedLookup({
      "orders.internal": ["127.0.0.1"],
      "a.b.shop.test": ["127.0.0.1"],
      "shop.test": ["127.0.0.1"],
      "evilshop.test": ["127.0.0.1"],
      "orders.internal.test": ["127.0.0.1"],
    });
    const guard = allowing(`orders.internal:${target.port}`, "*.shop.test");
    const caller = newCaller({ guard, lookup });
    for (const host of ["orders.internal", "ORDERS.internal", "a.b.shop.test"]) {
      assertResponse(await caller.call(call(`http://${host}:${target.port}/`), PATIENT));
      assert.equal(guard.refuseUrl(`http://${host}:${target.port}/`), null);
    }
    assert.equal(target.sockets.length, 3);
    for (const host of [
      "shop.test",
      "evilshop.test",
      "orders.internal.test",
      "127.0.0.1",
      "stock.internal",
    ]) {
      const outcome = await caller.call(call(`http://${host}:${target.port}/`), PATIENT);
      assertFailure(outcome);
      assert.equal(outcome.code, "blocked", host);
    }
    assert.notEqual(guard.refuseUrl("http://orders.internal:1234/"), null);
    assert.equal(target.sockets.length, 3);
  });

  it("matches a listed name with a trailing dot and in its international spelling", () => {
    const guard = allowing("bücher.internal", "Orders.Internal.");
    for (const host of ["bücher.internal", "BÜCHER.internal.", "xn--bcher-kva.internal", "orders.internal"]) {
      assert.equal(guard.refuseUrl(`http://${host}/`), null, host);
    }
  });

  it("allows a private name for its listed addresses, but not for public ones", () => {
    const guard = allowing("10.0.0.0/8");
    assert.equal(guard.refuseUrl("http://orders.internal/"), null, "only its addresses can tell");
    assert.equal(guard.checkName("orders.internal", 80).allowed, true);
    assert.equal(guard.check("orders.internal", ["10.1.2.3", "10.9.9.9"], 80).allowed, true);
    assert.equal(guard.check("orders.internal", ["10.1.2.3", "8.8.8.8"], 80).allowed, false);
    assert.equal(guard.check("orders.internal", ["169.254.169.254"], 80).allowed, false);
    assert.equal(guard.check("shop.test", ["10.1.2.3", "8.8.8.8"], 80).allowed, true);
  });

  it("allows a port of another protocol only when the entry states it", () => {
    assert.equal(allowing("10.0.0.7").check("10.0.0.7", ["10.0.0.7"], 25).allowed, false);
    assert.equal(allowing("10.0.0.7:25").check("10.0.0.7", ["10.0.0.7"], 25).allowed, true);
    assert.equal(allowing("10.0.0.7:25").check("shop.test", ["8.8.8.8"], 25).allowed, false);
    assert.equal(allowing("shop.test").checkName("shop.test", 25).allowed, false);
    assert.equal(allowing("shop.test:25").checkName("shop.test", 25).allowed, true);
    assert.equal(allowing("shop.test:25").check("shop.test", ["8.8.8.8"], 25).allowed, true);
  });

  it("does not allow an address that a gateway would translate to a listed one", () => {
    assert.equal(allowing("10.0.0.7").check("shop.test", ["64:ff9b::10.0.0.7"], 443).allowed, false);
    assert.equal(allowing("10.0.0.7").check("shop.test", ["2002:a00:7::"], 443).allowed, false);
  });

  it("throws for an invalid entry", () => {
    assert.throws(() => allowing("10.0.0.0/33"), /"10\.0\.0\.0\/33" has a prefix longer than 32/);
  });
});

describe("the address that was checked", () => {
  it("is the one that is connected to", async (t) => {
    const good = await listen(doorman(), "127.0.0.2").catch(() => null);
    if (good === null) return t.skip("only 127.0.0.1 here");
    const bad = await listen(doorman(), "127.0.0.1", good.port);
    const { lookup, asked } = fixedLookup({ "api.example.com": ["127.0.0.2"] });
    const caller = newCaller({ guard: allowing("127.0.0.2"), lookup });
    const outcome = await caller.call(call(`http://api.example.com:${good.port}/`), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.body, "127.0.0.2");
    assert.deepEqual(asked, ["api.example.com"]);
    assert.equal(bad.sockets.length, 0);
  });

  it("is not changed by DNS rebinding: there is no second lookup before the connection", async (t) => {
    const good = await listen(doorman(), "127.0.0.2").catch(() => null);
    if (good === null) return t.skip("only 127.0.0.1 here");
    const bad = await listen(doorman(), "127.0.0.1", good.port);
    const { lookup, asked } = rebindingLookup(["127.0.0.2"], ["127.0.0.1"]);
    const caller = newCaller({ guard: allowing("127.0.0.2"), lookup });
    const url = `http://rebind.test:${good.port}/`;

    assertResponse(await caller.call(call(url), PATIENT));
    assert.equal(asked.length, 1);
    assert.equal(good.sockets.length, 1);

    const later = await caller.call(call(url), PATIENT);
    assertFailure(later);
    assert.equal(later.code, "blocked", "a new connection is a new question and a new check");
    assert.equal(asked.length, 2);
    assert.equal(bad.sockets.length, 0);
  });

  it("is not looked up again after a refusal", async () => {
    const target = await listen(doorman());
    const { lookup, asked } = rebindingLookup(["10.0.0.1"], ["127.0.0.1"]);
    const caller = newCaller({ guard: allowing("127.0.0.1"), lookup });
    const outcome = await caller.call(call(`http://rebind.test:${target.port}/`), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.equal(asked.length, 1);
    assert.equal(target.sockets.length, 0);
  });

  it("decides, not the names of the aliases that lead to it", async () => {
    const target = await listen(doorman());
    const aliases: Record<string, string> = {
      "www.public.test": "edge.public.test",
      "edge.public.test": "metadata.google.internal",
    };
    const records: Record<string, string[]> = { "metadata.google.internal": ["127.0.0.1"] };
    const follow = async (name: string): Promise<string[]> => {
      const alias = aliases[name];
      return alias === undefined ? (records[name] ?? []) : follow(alias);
    };
    const caller = newCaller({ guard: publicOnly, lookup: follow });
    const outcome = await caller.call(call(`http://www.public.test:${target.port}/`), PATIENT);
    assertFailure(outcome);
    assert.equal(outcome.code, "blocked");
    assert.doesNotMatch(outcome.message, /127\.|metadata|edge/);
    assert.equal(target.sockets.length, 0);
  });

  it("is checked for every one of concurrent calls that share a lookup", async () => {
    const target = await listen(doorman());
    const { lookup, asked } = fixedLookup({ "shop.test": ["8.8.8.8", "127.0.0.1"] });
    const caller = newCaller({ guard: publicOnly, lookup });
    const url = `http://shop.test:${target.port}/`;
    const calls = Array.from({ length: 20 }, () => caller.call(call(url), PATIENT));
    for (const outcome of await Promise.all(calls)) {
      assertFailure(outcome);
      assert.equal(outcome.code, "blocked");
    }
    assert.ok(asked.length >= 1);
    assert.equal(target.sockets.length, 0);
  });
});

describe("a redirect to a refused address", () => {
  for (const status of [301, 302, 303, 307, 308]) {
    it(`is not followed after ${status}`, async () => {
      const inner = await listen(doorman());
      for (const location of [
        inner.url,
        `//127.0.0.1:${inner.port}/`,
        `http://2130706433:${inner.port}/`,
        "http://169.254.169.254/latest/meta-data/",
      ]) {
        const outer = await httpTarget((_request, response) =>
          response.writeHead(status, { location }).end(),
        );
        const guard = allowing(`127.0.0.1:${outer.port}`);
        const outcome = await newCaller({ guard }).call(call(outer.url), PATIENT);
        assertResponse(outcome);
        assert.equal(outcome.statusCode, status);
        assert.equal(outer.sockets.length, 1);
        assert.notEqual(guard.refuseUrl(new URL(location, outer.url).href), null);
      }
      assert.equal(inner.sockets.length, 0);
    });
  }

  it("causes no connection to another host", () => {
    const elsewhere = attempts.filter((host) => !host.startsWith("127.") && host !== "::ffff:7f00:1");
    assert.deepEqual(elsewhere, []);
    assert.ok(attempts.length > 0, "the fence is there");
  });

  it("is not followed for a Refresh or Link header", async () => {
    const inner = await listen(doorman());
    const outer = await httpTarget((_request, response) =>
      response.writeHead(200, { refresh: `0; url=${inner.url}`, link: `<${inner.url}>; rel=preload` }).end(),
    );
    const outcome = await newCaller({ guard: allowing(`127.0.0.1:${outer.port}`) }).call(
      call(outer.url),
      PATIENT,
    );
    assertResponse(outcome);
    assert.equal(inner.sockets.length, 0);
  });
});

describe("a caller's headers", () => {
  it("do not bypass the guard", async () => {
    const target = await listen(doorman());
    const caller = newCaller({ guard: publicOnly, lookup: async () => ["127.0.0.1"] });
    for (const name of ["X-Forwarded-Host", "Forwarded", "Alt-Svc", "Origin"]) {
      const headers = { [name]: "public.test" };
      const outcome = await caller.call(call(`http://shop.test:${target.port}/`, { headers }), PATIENT);
      assertFailure(outcome);
      assert.equal(outcome.code, "blocked");
    }
    assert.equal(target.sockets.length, 0);
  });
});

/** Another answer at each question; the last one stays. */
function rebindingLookup(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  return {
    asked,
    async lookup(hostname: string) {
      asked.push(hostname);
      return answers[Math.min(asked.length, answers.length) - 1] ?? [];
    },
  };
}
