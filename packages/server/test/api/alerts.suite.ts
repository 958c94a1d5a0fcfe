import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, PRIVATE_RULE, type TestApi } from "./test-api.ts";

describe("/v1/alerts", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const WHEN = { kind: "failure_rate", threshold: 10 };
  const ALERT = { name: "Failures", when: WHEN, notify: [{ url: "https://example.com/hook" }] };
  const create = (fields: object = {}) => api.call("POST", "/v1/alerts", { ...ALERT, ...fields });

  it("creates, shows, lists, changes, tests and deletes", async () => {
    const slack = "https://hooks.slack.com/services/T1/B2/secret";
    const { status, body } = await create({ notify: [...ALERT.notify, { slack_url: slack, email: null }] });
    assert.equal(status, 201);
    const { id, created_at, updated_at, notify, ...rest } = body.alert;
    assert.match(id, /^alr_[0-9a-z]{26}$/);
    const unsent = { last_error: null, last_sent_at: null };
    const shown = "https://hooks.slack.com/services/T1/…";
    assert.deepEqual(notify, [
      { url: "https://example.com/hook", ...unsent },
      { slack_url: shown, ...unsent },
    ]);
    assert.deepEqual(rest, {
      name: "Failures",
      when: { kind: "failure_rate", queue: null, threshold: 10, within: 300, for: 0 },
      enabled: true,
      state: "ok",
      value: null,
      since: null,
      last_fired_at: null,
    });
    assert.deepEqual((await api.call("GET", `/v1/alerts/${id}`)).body, body);
    assert.deepEqual((await api.call("GET", "/v1/alerts")).body, { alerts: [body.alert] });

    const changed = await api.call("PATCH", `/v1/alerts/${id}`, {
      name: null,
      when: { ...rest.when, kind: "depth", within: null, for: 60 },
      notify: [{ slack_url: shown }],
      enabled: false,
    });
    assert.deepEqual(
      [changed.status, changed.body.alert.name, changed.body.alert.when, changed.body.alert.notify],
      [200, "Failures", { kind: "depth", queue: null, threshold: 10, within: null, for: 60 }, [notify[1]]],
    );
    const tested = await api.call("POST", `/v1/alerts/${id}/test`);
    assert.deepEqual([tested.status, tested.body.alert.state], [202, "ok"]);
    assert.deepEqual((await api.call("DELETE", `/v1/alerts/${id}`)).body, { alert: { id, deleted: true } });
    const gone = await api.call("GET", `/v1/alerts/${id}`);
    assert.deepEqual([gone.status, gone.body.error], [404, "Alert not found"]);

    const log = (await api.call("GET", "/v1/audit?limit=4")).body.events;
    assert.deepEqual(
      log.map((event: { action: string }) => event.action),
      ["alert.deleted", "alert.tested", "alert.updated", "alert.created"],
    );
    assert.ok(!JSON.stringify(log).includes("secret"));
  });

  it("says what is wrong with one", async () => {
    const when = (fields: object) => ({ when: { ...WHEN, ...fields } });
    const notify = (...channels: object[]) => ({ notify: channels });
    const wrong: readonly (readonly [object, string | RegExp])[] = [
      [{ name: "" }, /^name /],
      [when({ kind: "weather" }), /^when\["kind"\] must be one of/],
      [when({ threshold: null }), "when.threshold is required for failure_rate"],
      [when({ threshold: 101 }), "when.threshold must be a percentage from 0.01 to 100 for failure_rate"],
      [when({ kind: "depth", threshold: 1.5 }), /^when.threshold must be a whole number from 1 to 1000000/],
      [when({ within: 59 }), /^when\["within"\] /],
      [when({ kind: "depth", within: 60 }), "when.within is not used by depth: leave it out"],
      [when({ kind: "webhook_disabled" }), "when.threshold is not used by webhook_disabled: leave it out"],
      [when({ kind: "storage", queue: "default" }), "when.queue is not used by storage: leave it out"],
      [when({ queue: "missing" }), "when.queue must be the name of a queue of the team"],
      [when({ for: 86_401 }), /^when\["for"\] /],
      [notify(), /^notify /],
      [notify(...Array.from({ length: 11 }, (_, n) => ({ url: `https://example.com/${n}` }))), /^notify /],
      [notify({}), "notify[0] must have exactly one of email, url and slack_url"],
      [
        notify({ url: "https://a.example", slack_url: "https://b.example" }),
        /^notify\[0\] must have exactly one/,
      ],
      [notify({ url: "https://a.example" }, { url: "https://a.example" }), "notify[1].url is given twice"],
      [notify({ url: "https://private.example" }), `notify[0].url ${PRIVATE_RULE}`],
      [notify({ slack_url: "ftp://example.com" }), "notify[0].slack_url must be a valid http or https URL"],
      [
        notify({ slack_url: "https://hooks.slack.com/services/…" }),
        "notify[0].slack_url must be the whole URL",
      ],
      [
        notify({ email: "ada@example.com" }),
        "notify[0].email cannot be used: the server has no mail server (BELLHOP_SMTP_URL)",
      ],
      [{ secret: "x" }, /secret/],
    ];
    for (const [fields, expected] of wrong) {
      const { status, body } = await create(fields);
      assert.equal(status, 400, JSON.stringify(fields));
      if (typeof expected === "string") assert.equal(body.error, expected);
      else assert.match(body.error, expected);
    }
  });

  it("fills in the default of schedule_failing, and stops at 50 a team", async () => {
    const made = await create({ when: { kind: "schedule_failing" } });
    assert.equal(made.body.alert.when.threshold, 3);
    const { body } = await api.call("GET", "/v1/alerts");
    for (let count = body.alerts.length; count < 50; count += 1) await create();
    const full = await create();
    assert.deepEqual(
      [full.status, full.body.error],
      [409, "A team can have at most 50 alerts: delete one first"],
    );
  });

  it("is not there for test keys", async () => {
    const headers = await api.team.newKey("test");
    for (const method of ["GET", "POST"] as const) {
      const { status, body } = await api.call(method, "/v1/alerts", method === "POST" ? ALERT : undefined, {
        ...headers,
      });
      assert.deepEqual([status, body.error], [403, "Not available to test keys"]);
    }
  });
});
