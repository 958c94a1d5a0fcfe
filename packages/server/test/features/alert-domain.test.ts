import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type AlertCondition,
  type AlertStanding,
  judge,
  REMIND_MS,
  showSlackUrl,
} from "../../src/features/alerts/domain.ts";
import { composeMessage, slackBody } from "../../src/features/alerts/domain-messages.ts";

const WHEN: AlertCondition = { kind: "depth", queue: null, threshold: 100, within: null, for: 120 };
const OK: AlertStanding = { state: "ok", value: null, heldSince: null, lastFiredAt: null, toldAt: null };
const at = (seconds: number) => new Date(seconds * 1000);

describe("the state of an alert", () => {
  it("fires once when the condition has held for its time, reminds every four hours, and is resolved", () => {
    let standing: AlertStanding = OK;
    const messages: (readonly [number, string])[] = [];
    const minutes = 4 * 60 + 10;
    for (let minute = 0; minute <= minutes; minute += 1) {
      const judged = judge({ ...standing, when: WHEN }, minute === minutes ? 99 : 100, at(minute * 60));
      if (judged.message !== null) messages.push([minute, judged.message]);
      if (judged.message !== null) assert.equal(judged.since?.getTime(), 0);
      standing = judged;
    }
    assert.deepEqual(messages, [
      [2, "alert.firing"],
      [2 + REMIND_MS / 60_000, "alert.reminder"],
      [minutes, "alert.resolved"],
    ]);
    assert.deepEqual(
      [standing.state, standing.value, standing.heldSince, standing.lastFiredAt],
      ["ok", 99, null, at(120)],
    );
  });

  it("counts the time from the beginning after the condition did not hold, also without a figure", () => {
    const first = judge({ ...OK, when: WHEN }, 100, at(0));
    const gap = judge({ ...first, when: WHEN }, null, at(60));
    assert.deepEqual([gap.heldSince, gap.message], [null, null]);
    const second = judge({ ...gap, when: WHEN }, 500, at(120));
    assert.equal(judge({ ...second, when: WHEN }, 500, at(180)).state, "ok");
    assert.equal(judge({ ...second, when: WHEN }, 500, at(240)).state, "firing");
  });
});

describe("what is shown of an alert's channels and messages", () => {
  it("leaves out the secret end of a Slack URL, also where a fixed word follows the secret", () => {
    assert.equal(
      showSlackUrl("https://hooks.slack.com/services/T1/B2/secret"),
      "https://hooks.slack.com/services/T1/…",
    );
    assert.equal(
      showSlackUrl("https://discord.com/api/webhooks/1/secret/slack"),
      "https://discord.com/api/webhooks/…",
    );
    assert.equal(showSlackUrl("https://chat.example/hooks/secret"), "https://chat.example/hooks/…");
    assert.equal(showSlackUrl("https://chat.example/secret"), "https://chat.example/…");
    assert.equal(showSlackUrl("https://chat.example?secret=1"), "https://chat.example/…");
  });

  it("does not let a name mention a Slack channel or break the line", () => {
    const alert = { id: "0193d6a4-0000-7000-8000-000000000000", name: "a <!channel>\nb", when: WHEN };
    const { text } = JSON.parse(
      slackBody(composeMessage(alert, { type: "alert.firing", value: 120, since: at(0) })),
    );
    assert.equal(
      text,
      "*Firing: a &lt;!channel&gt; b*\nAt least 100 tasks of the team are due and pending; it is 120. " +
        "Since 1970-01-01T00:00:00.000Z.",
    );
  });
});
