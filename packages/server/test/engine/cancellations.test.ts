import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCancellations } from "../../src/engine/cancellations.ts";
import type { Lease } from "../../src/engine/lease.ts";
import type { ClaimHint, HeldClaim } from "../../src/store/tasks/hints.ts";
import { createTestTime } from "../test-time.ts";

const turn = () => new Promise(setImmediate);

/** A node cancels a task whose call the node with this worker id makes. */
function cancelCallOf(workerId: number) {
  const time = createTestTime();
  const [sent, dropped]: [ClaimHint[], HeldClaim[]] = [[], []];
  const cancellations = createCancellations({
    sql: { rows: () => assert.fail("no statement is needed") },
    attempts: { drop: (claim) => dropped.push(claim) },
    poller: { drop: () => {} },
    outgoing: { send: () => assert.fail("no third party is to be told") },
    lease: { workerId: 1 } as Lease,
    time,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    send: (hint) => sent.push(hint),
  });
  const held = { taskId: "t", fence: 1, workerId };
  const scene = { time, sent, dropped, held, cancellations, isAnswered: false };
  cancellations
    .follow({
      teamId: 1,
      id: "t",
      shape: "queue",
      queueId: 1,
      flow: null,
      sandbox: false,
      notify: false,
      held,
      job: null,
    })
    .then(() => {
      scene.isAnswered = true;
    });
  return scene;
}

describe("a cancel", () => {
  it("is answered once the calling node reports that it dropped this claim", async () => {
    const scene = cancelCallOf(2);
    await turn();
    assert.deepEqual(scene.sent, [{ kind: "void", claim: scene.held }]);
    scene.cancellations.hear({ kind: "dropped", claim: { ...scene.held, fence: 2 } });
    await turn();
    assert.equal(scene.isAnswered, false, "another claim was dropped");

    scene.cancellations.hear({ kind: "dropped", claim: scene.held });
    await turn();
    assert.equal(scene.isAnswered, true);
  });

  it("is answered after a second when the calling node reports nothing", async () => {
    const scene = cancelCallOf(2);
    scene.time.pass(999);
    await turn();
    assert.equal(scene.isAnswered, false);
    scene.time.pass(1);
    await turn();
    assert.equal(scene.isAnswered, true);
  });

  it("drops a call of its own node directly, without a hint", async () => {
    const scene = cancelCallOf(1);
    await turn();
    assert.deepEqual([scene.isAnswered, scene.sent, scene.dropped], [true, [], [scene.held]]);
  });
});
