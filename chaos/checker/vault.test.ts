import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, brokenIn, COMPLETED, call, fault, goodChanges, historyOf, taskChange } from "./hand-made.ts";
import type { History, Seen } from "./history.ts";
import type { TaskRow } from "./rows.ts";
import { CANARY, LITERAL_HEADER } from "./vault.ts";
import type { VaultRecord, VaultToken } from "./vault-record.ts";

const VALUE = `Bearer ${CANARY}1`;
const TOKEN: VaultToken = { id: "tok_1", value: VALUE, revoking: null, revokedAt: null };
const VAULT: VaultRecord = {
  tokens: [TOKEN, { ...TOKEN, id: "tok_2", value: `Bearer ${CANARY}2` }],
  tasks: [{ nonce: "n", tokenId: "tok_1", literal: "beside" }],
  leaks: [],
  unsealed: [],
};
const HEADERS = { authorization: VALUE, [LITERAL_HEADER]: "beside" };

function isBroken(
  seen: readonly Seen[],
  vault: Partial<VaultRecord> = {},
  more: Partial<History> = {},
): boolean {
  const { rest: _rest, ...parts } = more;
  return brokenIn(historyOf({ ...parts, seen, vault: { ...VAULT, ...vault } })).includes("G");
}

const called = (headers: Seen["headers"], begunAt = 1_020) =>
  call(begunAt, begunAt + 80, { nonces: ["n", "n"], ...(headers !== undefined && { headers }) });

test("G: a call has the credential of its token, and what is beside it unchanged", () => {
  assert.equal(isBroken([called(HEADERS)]), false);
  assert.equal(isBroken([called({ ...HEADERS, authorization: "tok_1" })]), true, "the id of the token");
  assert.equal(
    isBroken([called({ ...HEADERS, authorization: `Bearer ${CANARY}2` })]),
    true,
    "of another token",
  );
  assert.equal(isBroken([called({ [LITERAL_HEADER]: "beside" })]), true, "none");
  assert.equal(isBroken([called({ authorization: VALUE })]), true, "nothing beside it");
  assert.equal(isBroken([called({ ...HEADERS, [LITERAL_HEADER]: VALUE })]), true, "in another header");
});

test("G: nothing but the call of a task that names the token has its credential", () => {
  assert.equal(isBroken([call(1_020, 1_100, { nonces: ["other", "other"] })]), false);
  assert.equal(isBroken([call(1_020, 1_100, { nonces: ["other", "other"], headers: HEADERS })]), true);
  const told = call(1_300, 1_310, { kind: "notification", attempt: null, headers: { body: VALUE } });
  assert.equal(isBroken([called(HEADERS), told]), true);
  const leaks = [{ where: "node-1.log", at: null }];
  assert.equal(isBroken([called(HEADERS)], { leaks }), true);
});

test("G: no call has a credential that was revoked before its claim, or long before it began", () => {
  const revoked = (revokedAt: number) => ({ tokens: [{ ...TOKEN, revoking: revokedAt - 10, revokedAt }] });
  assert.equal(isBroken([called(HEADERS)], revoked(2_000)), false, "revoked later");
  assert.equal(isBroken([called(HEADERS)], revoked(900)), true, "claimed after it");
  assert.equal(isBroken([called(HEADERS, 1_150)], revoked(1_100)), false, "claimed and read before it");
  const late = goodChanges().map((change) =>
    change.committedAt < 1_200 ? change : { ...change, committedAt: 10_000 },
  );
  assert.equal(
    isBroken([called(HEADERS, 9_000)], revoked(1_100), { changes: late }),
    true,
    "read long before",
  );
  const cutOff = [fault(1_500, 8_000)];
  assert.equal(isBroken([called(HEADERS, 9_000)], revoked(1_100), { changes: late, faults: cutOff }), false);
});

test("G: a task fails for its token only if that was revoked", () => {
  const failed = (failureReason: string): Partial<TaskRow> => ({
    ...COMPLETED,
    status: "failed",
    failureReason,
    completedAt: 1_200,
    attempts: [{ number: 1, status: "blocked", code: null, phase: "not_sent" }],
  });
  const broken = (failureReason: string, revoking: number | null) =>
    isBroken(
      [],
      { tokens: [{ ...TOKEN, revoking, revokedAt: revoking }] },
      {
        changes: [...goodChanges().slice(0, 2), taskChange(1_200, failed(failureReason))],
        answers: [answer("create", 995, { carried: "n" })],
      },
    );
  assert.equal(broken("token_revoked", 1_000), false);
  assert.equal(broken("token_revoked", 1_500), true, "revoked later");
  assert.equal(broken("token_revoked", null), true, "never revoked");
  assert.equal(broken("blocked", null), true, "it could not be read");
  assert.equal(broken("retries_exhausted", null), false);
});

test("G: at the end the newest key has sealed every row", () => {
  assert.equal(isBroken([called(HEADERS)], { unsealed: ["the token 1"] }), true);
});
