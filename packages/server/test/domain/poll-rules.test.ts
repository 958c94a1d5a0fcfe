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

describe("a custom poll configuration", () => {
  it("needs four fields, and gets defaults for some of the others", () => {
    assert.deepEqual(completePollConfig(OWN), {
      ...OWN,
      interval: 5,
      resultPath: "",
      forwardAuth: true,
      maxDuration: 600,
    });
    assert.equal(completePollConfig({ ...OWN, forwardAuth: false, interval: 1 }).forwardAuth, false);
  });

  it("is refused for an invalid template, with the name of the field", () => {
    assert.deepEqual(errors({}), []);
    assert.deepEqual(errors({ resultUrlTemplate: "{x}" }), [
      "resultUrlTemplate has an unknown variable {x}: only {startResult.body.<path>} can be filled in",
    ]);
    assert.deepEqual(errors({ urlTemplate: "http://a.example/" }, "https://a.example/"), [
      "urlTemplate must be https, or on the origin of the first call",
    ]);
  });

  it("is refused for a host that the egress policy blocks", () => {
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

  it("is refused when a status is both a done value and a fail value", () => {
    assert.deepEqual(errors({ failValues: ["x", "done"] }), [
      'failValues must not repeat "done" of doneValues',
    ]);
  });

  it("is refused when it forwards an invalid or hop-by-hop header", () => {
    assert.deepEqual(errors({ forwardHeaders: ["X-Version", "xi-api-key"] }), []);
    for (const name of ["Host", "content-length", "a b", "x:y"]) {
      assert.deepEqual(errors({ forwardHeaders: ["x-ok", name] }), [
        `forwardHeaders has "${name}", which is not a header that can be forwarded`,
      ]);
    }
  });
});
