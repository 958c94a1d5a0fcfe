import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { lookUp } from "../../src/domain/json/look-up.ts";
import {
  fillTemplate,
  LONGEST_POLL_URL,
  templateComplaint,
  templatePaths,
} from "../../src/domain/poll/poll-template.ts";

const ID = "https://api.example.com/jobs/{startResult.body.id}";

function fill(template: string, startBody: string) {
  return fillTemplate(template, lookUp(startBody, templatePaths(template)));
}

function filled(template: string, start: unknown): string {
  const result = fill(template, JSON.stringify(start));
  assert.ok(result.ok, JSON.stringify(result));
  return result.url;
}

function refused(template: string, start: unknown): string {
  const result = fill(template, typeof start === "string" ? start : JSON.stringify(start));
  assert.ok(!result.ok, JSON.stringify(result));
  return result.message;
}

describe("fillTemplate", () => {
  it("fills variables from the body of the answer to the first call", () => {
    assert.equal(filled(ID, { id: "j1" }), "https://api.example.com/jobs/j1");
    assert.equal(
      filled("https://a.example/{startResult.body.data.jobs.0.id}/x?of={startResult.body.team}", {
        data: { jobs: [{ id: 7 }] },
        team: "t 1",
      }),
      "https://a.example/7/x?of=t%201",
    );
    assert.equal(filled("https://a.example/fixed", {}), "https://a.example/fixed");
  });

  it("uses the value as the whole URL when the template is a single variable", () => {
    const url = "https://queue.fal.run/fal-ai/flux/requests/1/status?logs=1";

    assert.equal(filled("{startResult.body.status_url}", { status_url: url }), url);
  });

  it("keeps every digit of a number beyond 2^53", () => {
    const result = fill(ID, '{"id": 9007199254740993123}');

    assert.deepEqual(result, { ok: true, url: "https://api.example.com/jobs/9007199254740993123" });
  });

  it("names the variable that is missing in the answer", () => {
    const missing = 'The answer to the first call has no "id"';

    assert.equal(refused(ID, {}), missing);
    assert.equal(refused(ID, { id: null }), missing);
    assert.equal(refused(ID, []), missing);
    assert.equal(refused(ID, '{"__proto__":{"id":"x"}}'), missing);
    assert.equal(
      refused("https://a.example/{startResult.body.constructor.name}", {}),
      missing.replace("id", "constructor.name"),
    );
    assert.equal(refused(ID, "<html>"), 'The answer to the first call is not JSON, so it has no "id"');
  });

  it("accepts only strings and numbers as values", () => {
    for (const id of [{}, [], ["a"], true, { toString: "x" }]) {
      assert.equal(
        refused(ID, { id }),
        '"id" in the answer to the first call is neither a string nor a number',
      );
    }
    assert.equal(refused(ID, { id: "" }), '"id" in the answer to the first call is empty');
    assert.equal(
      refused("{startResult.body.u}", { u: 7 }),
      '"u" in the answer to the first call is not a URL',
    );
  });

  it("URL-encodes values that have characters with a meaning in URLs", () => {
    assert.equal(
      filled(ID, { id: "a/b?c#d&e=f%2f@x:y é" }),
      "https://api.example.com/jobs/a%2Fb%3Fc%23d%26e%3Df%252f%40x%3Ay%20%C3%A9",
    );
    assert.equal(filled(ID, { id: "\ud800\0" }), "https://api.example.com/jobs/%EF%BF%BD%EF%BF%BD");
  });

  it("refuses a value that would change the path", () => {
    for (const id of [".", "..", "../admin", "a/../b", "a\\..\\b", "..\\", "%2e%2e", "a/%2E."]) {
      assert.match(refused(ID, { id }), /would lead to another path$/, id);
    }
    const pieced = "https://a.example/x/%2{startResult.body.a}/y";
    assert.equal(refused(pieced, { a: "e" }), "The answer to the first call would lead to another path");
  });

  it("refuses a URL that becomes too long", () => {
    assert.match(refused(ID, { id: "x".repeat(LONGEST_POLL_URL) }), /too long/);
  });
});

describe("templateComplaint", () => {
  it("is null for a valid template", () => {
    for (const template of [
      ID,
      "{startResult.body.status_url}",
      "https://a.example",
      "https://a.example?id={startResult.body.id}",
      "HTTP://127.0.0.1:8080/{startResult.body.id}",
      "https://[::1]:8080/{startResult.body.id}",
    ]) {
      assert.equal(templateComplaint(template), null, template);
    }
  });

  it("refuses and names unknown variables", () => {
    for (const variable of [
      "{id}",
      "{}",
      "{startResult.body}",
      "{startResult.body.}",
      "{startResult.body.a..b}",
      "{startResult.headers.x}",
      "{callbackUrl}",
      "{ startResult.body.id }",
    ]) {
      const expected = `has an unknown variable ${variable}: only {startResult.body.<path>} can be filled in`;
      assert.equal(templateComplaint(`https://a.example/${variable}`), expected);
      assert.equal(templateComplaint(variable), expected);
    }
    for (const template of [
      "https://a.example/{",
      "https://a.example/}",
      "https://a.example/{{startResult.body.id}}",
    ]) {
      assert.equal(templateComplaint(template), "has a brace that belongs to no variable", template);
    }
  });

  it("refuses templates that are no absolute URL, or with a variable in the host", () => {
    for (const template of [
      "",
      "/jobs/1",
      "ftp://a.example/",
      "https://",
      "https:///a",
      "https://user:pass@a.example/",
      "https://@a.example/",
      "https://a.example\\@b.example/",
      "https://a.example/a b",
      "https://a.example/\n",
      " https://a.example/",
      "https://{startResult.body.host}/",
      "https://a.{startResult.body.host}/",
      "https://a.example{startResult.body.rest}",
      "https://a.example:{startResult.body.port}/",
      "{startResult.body.base}/status",
      "{startResult.body.a}{startResult.body.b}",
      "https://a.example:99999/",
    ]) {
      assert.match(templateComplaint(template) ?? "", /^must be a valid http or https URL/, template);
    }
    assert.match(templateComplaint("https://a.example/x/../{startResult.body.id}") ?? "", /^must not have/);
    assert.match(templateComplaint("https://a.example/%2e%2E/x") ?? "", /^must not have/);
  });

  it("accepts http only on the origin of the first call, where that is known", () => {
    const template = "http://a.example:80/{startResult.body.id}";

    assert.equal(templateComplaint(template), null);
    assert.equal(templateComplaint(template, "http://a.example/start"), null);
    for (const url of ["https://a.example/start", "http://a.example:81/", "http://b.example/", "nonsense"]) {
      assert.equal(
        templateComplaint(template, url),
        "must be https, or on the origin of the first call",
        url,
      );
    }
    assert.equal(templateComplaint("https://a.example/", "http://b.example/"), null);
  });
});

describe("fillTemplate with arbitrary templates and answers", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "https://",
      "http://",
      "api.example.com",
      "/",
      "?",
      "#",
      "@",
      ":",
      "\\",
      "..",
      ".",
      "%2e",
      "//evil.example",
      "{startResult.body.a}",
      "{startResult.body.b}",
      "{startResult.body.__proto__}",
      "{x}",
      "{",
    ),
    fc.string({ maxLength: 4 }),
  );
  const anyTemplate = fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join(""));
  const goodTemplate = fc
    .array(piece, { maxLength: 5 })
    .map((pieces) => `https://api.example.com/v1/${pieces.join("")}`);
  const text = fc.oneof(
    fc.constantFrom(
      "..",
      ".",
      "",
      "/",
      "\\",
      "//evil.example/",
      "@evil.example",
      "https://evil.example/",
      "%2e%2e",
      "../..",
      "\t",
      "\0",
    ),
    fc.string(),
    fc.string({ unit: "binary" }),
  );
  const answer = fc.oneof(
    fc
      .record({ a: fc.oneof(text, fc.jsonValue()), b: fc.oneof(text, fc.integer()) })
      .map((body) => JSON.stringify(body)),
    fc.json(),
    fc.string(),
  );

  it("keeps the origin and the path depth unless the template is a single variable", () => {
    let filledOnes = 0;
    fc.assert(
      fc.property(fc.oneof(anyTemplate, goodTemplate), answer, (template, startBody) => {
        const result = fill(template, startBody);
        if (!result.ok || /^\{[^{}]*\}$/.test(template)) return;
        filledOnes += 1;
        const sample = new URL(template.replace(/\{[^{}]*\}/g, "x"));
        const url = new URL(result.url);
        assert.equal(templateComplaint(template), null);
        assert.equal(url.origin, sample.origin);
        assert.equal(url.username + url.password, "");
        assert.equal(url.pathname.split("/").length, sample.pathname.split("/").length);
        assert.ok(result.url.length <= LONGEST_POLL_URL);
      }),
      { numRuns: 800 },
    );
    assert.ok(filledOnes > 100, `only ${filledOnes} were filled`);
  });
});
