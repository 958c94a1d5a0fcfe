import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  completePollConfig,
  type OwnPollConfig,
  pollConfigComplaints,
} from "../../src/domain/poll/poll-rules.ts";

const OWN: OwnPollConfig = {
  urlTemplate: "https://api.example.com/jobs/{startResult.body.id}",
  statusPath: "status",
  doneValues: ["done"],
  failValues: [],
};

const errors = (changes: Partial<OwnPollConfig>, firstCallUrl?: string) =>
  pollConfigComplaints({ ...OWN, ...changes }, firstCallUrl).map(({ error }) => error);

describe("a caller's own configuration", () => {
  it("needs four fields; the others have defaults, or are absent", () => {
    assert.deepEqual(completePollConfig(OWN), {
      ...OWN,
      interval: 5,
      resultPath: "",
      forwardAuth: true,
      maxDuration: 600,
    });
    assert.equal(completePollConfig({ ...OWN, forwardAuth: false, interval: 1 }).forwardAuth, false);
  });

  it("keeps the rules of templates, by the name of the field", () => {
    assert.deepEqual(errors({}), []);
    assert.deepEqual(errors({ resultUrlTemplate: "{x}" }), [
      "resultUrlTemplate has an unknown variable {x}: only {startResult.body.<path>} can be filled in",
    ]);
    assert.deepEqual(errors({ urlTemplate: "http://a.example/" }, "https://a.example/"), [
      "urlTemplate must be https, or on the origin of the first call",
    ]);
  });

  it("names no host that the egress policy refuses: it would be met only after a paid first call", () => {
    const refuseUrl = (url: string) => (new URL(url).hostname.startsWith("10.") ? "must not be there" : null);
    const complaints = pollConfigComplaints(
      {
        ...OWN,
        urlTemplate: "https://10.0.0.7/{startResult.body.id}",
        resultUrlTemplate: "https://10.0.0.8",
      },
      "https://a.example/",
      refuseUrl,
    );
    assert.deepEqual(
      complaints.map(({ error }) => error),
      ["urlTemplate must not be there", "resultUrlTemplate must not be there"],
    );
  });

  it("has no status that means both", () => {
    assert.deepEqual(errors({ failValues: ["x", "done"] }), [
      'failValues must not repeat "done" of doneValues',
    ]);
  });

  it("forwards only what is a header and not the connection's own", () => {
    assert.deepEqual(errors({ forwardHeaders: ["X-Version", "xi-api-key"] }), []);
    for (const name of ["Host", "content-length", "a b", "x:y"]) {
      assert.deepEqual(errors({ forwardHeaders: ["x-ok", name] }), [
        `forwardHeaders has "${name}", which is not a header that can be forwarded`,
      ]);
    }
  });
});
