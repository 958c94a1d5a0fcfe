import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ExtractedPayloads, outlineJson } from "../../src/domain/json/outline.ts";
import { NO_BOUNDS } from "../../src/domain/json/scan.ts";
import { sliceElements, sliceMember } from "../../src/domain/raw-json.ts";

const outlined = (text: string) => {
  const found = outlineJson(text, NO_BOUNDS);
  assert.ok(found.kind === "json", text);
  return { outline: found.outline ?? text, extracted: new ExtractedPayloads(text, found.places) };
};

describe("outlineJson", () => {
  it("omits objects and arrays in payload and body, and nothing else", () => {
    const { outline } = outlined(
      '{"payload":{"a":1},"body":"text","headers":{"payload":{"kept":1}},"tasks":[{"body":[1,2]},{"payload":7}]}',
    );
    assert.equal(
      outline,
      '{"payload":{"":0},"body":"text","headers":{"payload":{"kept":1}},"tasks":[{"body":[1]},{"payload":7}]}',
    );
  });

  it("returns the exact payload text, even if it looks like a placeholder", () => {
    const text = '{"payload":{"":1},"\\u0062ody":[0],"payload":{"x": [ ] }}';
    const { outline, extracted } = outlined(text);
    assert.deepEqual(
      ["payload", "body"].map((name) => extracted.textOf(sliceMember(outline, name) ?? "")),
      ['{"x": [ ] }', "[0]"],
    );
  });

  it("finds the payload of every task in a batch", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 6 }), fc.nat(3), (payloads, indent) => {
        const text = JSON.stringify({ tasks: payloads.map((payload) => ({ payload, n: 1 })) }, null, indent);
        const { outline, extracted } = outlined(text);
        const whole = sliceElements(sliceMember(text, "tasks") ?? "");
        const short = sliceElements(sliceMember(outline, "tasks") ?? "");
        for (const [index, item] of whole.entries())
          assert.equal(
            extracted.textOf(sliceMember(short[index] ?? "", "payload") ?? ""),
            sliceMember(item, "payload"),
          );
      }),
    );
  });

  it("reports invalid JSON, excessive depth and too many fields", () => {
    assert.deepEqual(outlineJson('{"payload":{"a":1}', NO_BOUNDS), { kind: "not_json" });
    assert.deepEqual(outlineJson('{"payload":[[[]]]}', { ...NO_BOUNDS, depth: 3 }), {
      kind: "too_much",
      bound: "depth",
    });
    const fields = Array.from({ length: 50_001 }, () => "0").join();
    assert.deepEqual(outlineJson(`{"tags":[${fields}]}`, NO_BOUNDS), { kind: "too_many_fields" });
  });
});
