import assert from "node:assert/strict";
import { it } from "node:test";
import { createDiskMonitor } from "../../src/service/disk-monitor.ts";

it("the disk monitor removes tasks while free space is low, and logs each change once", async () => {
  let free = 1_000;
  let finished = 2;
  const said: string[] = [];
  const note = (_: object, message: string) => said.push(message);
  const watch = createDiskMonitor({
    freeBytes: async () => free,
    markBytes: 500,
    makeRoom: async () => (finished > 0 ? finished-- : 0),
    log: { warn: note, info: note },
  });
  await watch.lookOnce();
  assert.deepEqual([watch.isLow, finished], [false, 2]);

  free = 499;
  assert.deepEqual([await watch.lookOnce(), watch.isLow], [0, true]);
  await watch.lookOnce();
  assert.ok((await watch.lookOnce()) > 0, "nothing is left to remove");
  assert.equal(finished, 0);

  free = 500;
  await watch.lookOnce();
  assert.equal(watch.isLow, false);
  assert.deepEqual(said, ["space.low", "tasks.removed_early", "tasks.removed_early", "space.enough"]);
});
