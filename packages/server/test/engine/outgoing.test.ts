import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { createOutgoing, type RecordedCall } from "../../src/engine/outgoing.ts";
import { SealError } from "../../src/vault/cipher.ts";

const recorded: RecordedCall = {
  teamId: 1,
  taskId: "0190a0a0-0000-7000-8000-000000000000",
  messageId: "task_1",
  call: { method: "POST", url: "http://localhost/", headers: { Authorization: "tok_1" }, body: null },
  headers: {},
  timeoutMs: 1000,
  sign: false,
  callbackSealed: null,
  wipe: null,
  signal: new AbortController().signal,
  mayLeave: () => true,
};

function outgoingWith(failure: Error) {
  return createOutgoing({
    caller: {
      call: () => assert.fail("no call may be made"),
      callUnwiped: () => assert.fail("no call may be made"),
    },
    vault: { resolve: () => Promise.reject(failure), openText: () => assert.fail(failure.message) },
    signingSecrets: () => [],
    publicUrl: () => "",
    nowMs: () => 0,
  });
}

describe("a call that needs the vault", () => {
  it("is refused permanently when the vault is off or its key is missing", async () => {
    for (const failure of [new Problem("vault_off"), new SealError("no such key")]) {
      const sent = await outgoingWith(failure).send(recorded);
      assert.equal(sent.kind, "refused");
    }
  });

  it("is rejected for a later try when the database is away", async () => {
    await assert.rejects(outgoingWith(new Problem("database_away")).send(recorded), Problem);
  });
});
