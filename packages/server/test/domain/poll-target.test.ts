import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { lookUp } from "../../src/domain/json/look-up.ts";
import { catalogOrigins, type PollTargetRequest, pollTarget } from "../../src/domain/poll/poll-target.ts";
import { templatePaths } from "../../src/domain/poll/poll-template.ts";
import { PROVIDER_CATALOG } from "../../src/domain/poll/provider-catalog.ts";
import { ownConfig } from "./poll-scene.ts";

const HEADERS = {
  authorization: "tok_1",
  "X-Api-Key": "secret",
  "X-Version": "2024",
  "content-type": "application/json",
};

type Changes = Partial<PollTargetRequest> & { startBody?: string };

function request({ startBody = '{"id":"j1"}', ...changes }: Changes = {}): PollTargetRequest {
  const { template = "https://api.example.com/jobs/{startResult.body.id}" } = changes;
  return {
    template,
    config: { forwardAuth: true, forwardHeaders: ["x-version"] },
    start: lookUp(startBody, templatePaths(template)),
    firstCall: { url: "https://api.example.com/start", headers: HEADERS },
    catalogOrigins: [],
    ...changes,
  };
}

function allowed(changes: Changes) {
  const target = pollTarget(request(changes));
  assert.ok(target.ok, JSON.stringify(target));
  return target;
}

function refusal(changes: Changes): string {
  const target = pollTarget(request(changes));
  assert.ok(!target.ok, JSON.stringify(target));
  return target.message;
}

/** The URL is out of the third party's hands. */
const told = (url: string) => ({ template: "{startResult.body.url}", startBody: JSON.stringify({ url }) });

describe("pollTarget", () => {
  it("forwards Authorization and X-API-Key with forwardAuth, and others with forwardHeaders", () => {
    const { authorization, "X-Api-Key": key, "X-Version": version } = HEADERS;

    assert.deepEqual(pollTarget(request()), {
      ok: true,
      url: "https://api.example.com/jobs/j1",
      headers: { authorization, "X-Api-Key": key, "X-Version": version },
      withheld: [],
    });
    assert.deepEqual(allowed({ config: { forwardAuth: true } }).headers, { authorization, "X-Api-Key": key });
    assert.deepEqual(allowed({ config: { forwardAuth: false, forwardHeaders: ["X-VERSION"] } }).headers, {
      "X-Version": version,
    });
    assert.deepEqual(allowed({ config: { forwardAuth: false } }).headers, {});
  });

  it("withholds credentials from a status URL on another origin", () => {
    for (const url of [
      "https://evil.example/jobs/j1",
      "https://api.example.com.evil.example/",
      "https://api.example.com:444/",
      "https://api.example.com./",
      "https://sub.api.example.com/",
      "https:evil.example",
      "https://evil.example\\@api.example.com/",
    ]) {
      const target = allowed(told(url));

      assert.notEqual(new URL(target.url).origin, "https://api.example.com");
      assert.deepEqual(target.headers, {}, url);
      assert.deepEqual(target.withheld, ["authorization", "X-Api-Key", "X-Version"]);
    }
    assert.deepEqual(Object.keys(allowed(told("HTTPS://API.example.com:443/x")).headers).length, 3);
  });

  it("sends credentials to an origin that the provider's catalog entry names", () => {
    const changes = {
      ...told("https://jobs.vendor.example/1"),
      catalogOrigins: ["https://jobs.vendor.example"],
    };

    assert.deepEqual(Object.keys(allowed(changes).headers).length, 3);
    assert.deepEqual(allowed({ ...changes, ...told("https://vendor.example/1") }).headers, {});
  });

  it("requires https, or the origin of the first call", () => {
    const message = "The URL to poll must be https, or on the origin of the first call";
    const firstCall = { url: "http://127.0.0.1:9000/start", headers: HEADERS };

    assert.equal(refusal(told("http://api.example.com/x")), message);
    assert.equal(refusal(told("http://169.254.169.254/latest")), message);
    assert.equal(refusal({ firstCall, ...told("http://127.0.0.1:9001/x") }), message);
    assert.equal(refusal({ ...told("http://v.example/1"), catalogOrigins: ["http://v.example"] }), message);
    assert.equal(allowed({ firstCall, ...told("http://127.0.0.1:9000/x") }).url, "http://127.0.0.1:9000/x");
    assert.equal(allowed({ firstCall, ...told("http://2130706433:9000/x") }).url, "http://127.0.0.1:9000/x");
  });

  it("refuses invalid URLs, other schemes, and credentials in the URL", () => {
    const invalid = "The URL to poll is not a valid http or https URL";
    for (const url of [
      "",
      "/jobs/1",
      "jobs",
      "javascript:alert(1)",
      "file:///etc/passwd",
      "data:,x",
      "blob:https://api.example.com/1",
    ]) {
      assert.equal(
        refusal(told(url)),
        url === "" ? '"url" in the answer to the first call is empty' : invalid,
        url,
      );
    }
    for (const url of ["https://user:pass@api.example.com/", "https://user@api.example.com/"]) {
      assert.equal(refusal(told(url)), "The URL to poll holds a user name or password");
    }
    assert.equal(refusal({ startBody: "{}" }), 'The answer to the first call has no "id"');
  });

  it("applies the same rules to the result URL", () => {
    const target = allowed({ template: "https://cdn.example.com/{startResult.body.id}" });

    assert.deepEqual([target.url, target.headers], ["https://cdn.example.com/j1", {}]);
  });

  it("sends no header to an untrusted origin, for any URL", () => {
    const host = fc.constantFrom(
      "api.example.com",
      "evil.example",
      "user@api.example.com",
      "api.example.com:8443",
      "",
    );
    const url = fc.oneof(
      fc
        .tuple(fc.constantFrom("https://", "http://", "//", "https:", "HTTPS:\\\\"), host, fc.string())
        .map((parts) => parts.join("")),
      fc.string(),
    );
    fc.assert(
      fc.property(url, (text) => {
        const target = pollTarget(request(told(text)));
        if (!target.ok) return;
        const { origin, protocol, username } = new URL(target.url);
        assert.equal(protocol, "https:");
        assert.equal(username, "");
        if (origin !== "https://api.example.com") assert.deepEqual(target.headers, {});
      }),
      { numRuns: 600 },
    );
  });
});

describe("catalogOrigins", () => {
  it("returns the origins of the entry's absolute templates, none for fal", () => {
    assert.deepEqual(
      PROVIDER_CATALOG.map(({ id, pollConfig }) => catalogOrigins(id, pollConfig)),
      [
        [],
        ["https://api.replicate.com"],
        ["https://api.dev.runwayml.com"],
        ["https://api.lumalabs.ai"],
        ["https://api.elevenlabs.io"],
        ["https://api.stability.ai"],
      ],
    );
  });

  it("returns none for a custom poll configuration", () => {
    assert.deepEqual(catalogOrigins(null, ownConfig()), []);
  });
});
