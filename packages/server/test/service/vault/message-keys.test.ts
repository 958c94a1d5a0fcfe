import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createMessageKeyService } from "../../../src/service/vault/message-key-service.ts";
import { principalOf } from "../../test-principal.ts";
import { openTestStore, type TestStore } from "../../test-store.ts";

describe("the keys that sign messages", () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  it("move on by one key with each of four rotations at once", async () => {
    const requester = principalOf(await store.openTeam());
    const service = createMessageKeyService({
      database: store.database,
      vault: {
        sealSigningSecret: (_teamId, _id, secret) => secret,
        openSigningSecret: (_teamId, _id, secret) => secret,
      },
      monotonicMs: () => 0,
    });
    const first = await service.get(requester);

    const rotated = await Promise.all([1, 2, 3, 4].map(() => service.rotate(requester)));

    const last = await service.get(requester);
    const chain = [first, ...rotated].map(({ current, next }) => [current, next] as const);
    const follows = new Map(chain);
    assert.equal(follows.size, 5, "each rotation has a current key of its own");
    let key = first.current;
    for (let step = 0; step < 4; step += 1) key = follows.get(key) ?? "";
    assert.deepEqual(last, { current: key, next: follows.get(key) });
  });
});
