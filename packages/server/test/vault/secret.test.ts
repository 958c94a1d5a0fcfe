import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { format, inspect } from "node:util";
import { pino } from "pino";
import { Secret } from "../../src/domain/secret.ts";

const VALUE = "sk_live_51H8canary";

describe("a secret", () => {
  const secret = new Secret(VALUE);

  it("returns its text by reveal", () => {
    assert.equal(secret.reveal(), VALUE);
  });

  it("prints as *** in strings, JSON, inspections, errors and logs (promise G)", () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    log.info(
      { secret, deep: { list: [secret] }, err: Object.assign(new Error("no"), { secret }) },
      "%s",
      secret,
    );
    const printed = {
      template: `${secret}`,
      concatenated: `value: ${String(secret)}`,
      joined: [secret, secret].join(),
      json: JSON.stringify({ secret, list: [secret] }),
      inspected: inspect(secret, { showHidden: true, depth: 10 }),
      nested: inspect(new Map([["a", { secret }]]), { depth: 10, showHidden: true }),
      formatted: format("%s %o %O %j %d", secret, secret, secret, secret, secret),
      spread: inspect({ ...secret }, { showHidden: true }),
      cloned: inspect(structuredClone({ secret }), { showHidden: true, depth: 10 }),
      entries: JSON.stringify([Object.entries(secret), Object.getOwnPropertyNames(secret)]),
      logged: lines.join(),
    };

    for (const [way, text] of Object.entries(printed)) assert.ok(!text.includes(VALUE), way);
    assert.equal(printed.template, "***");
    assert.equal(printed.json, '{"secret":"***","list":["***"]}');
    assert.equal(printed.inspected, "***");
    assert.match(printed.logged, /"secret":"\*\*\*"/);
  });
});
