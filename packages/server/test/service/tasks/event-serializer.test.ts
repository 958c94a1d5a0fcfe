import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { SERVER_SENT } from "../../../src/api/tasks/event-view.ts";
import { CALL_LIMITS } from "../../../src/domain/call.ts";
import type { EventPosition } from "../../../src/domain/event.ts";
import {
  createEventSerializer,
  type EventSerializer,
  type Question,
} from "../../../src/service/tasks/event-serializer.ts";
import { listenTo } from "../../../src/store/tasks/event-reads.ts";
import { newTask, openTestStore, type TestStore } from "../../test-store.ts";

const BEGINNING: EventPosition = { xid: "0", seq: "0", index: 0, atMs: 0 };
const ALL = { sandbox: false, types: null, queue: null, tag: null };
/** What one look reads and serializes at most, whatever the number of teams. */
const MOST = { events: 2_000, characters: 2 ** 24 };

describe("a look at the events of several teams", () => {
  let store: TestStore;
  let serializer: EventSerializer<string>;
  before(async () => {
    store = await openTestStore();
    serializer = createEventSerializer(store.database, SERVER_SENT);
  });
  after(() => store.close());

  async function openTeam(tasks: number, url = "http://localhost/"): Promise<number> {
    const teamId = await store.openTeam();
    const queue = await store.openQueue({}, teamId);
    await listenTo(store.database, [teamId]);
    const task = { call: { ...newTask(queue).call, url } };
    for (let made = 0; made < tasks; made += 200)
      await store.insert(queue, ...Array.from({ length: Math.min(200, tasks - made) }, () => task));
    return teamId;
  }

  const askedBy = (teamId: number, subscriptions = 1): Question => ({
    teamId,
    position: BEGINNING,
    subscriptions: Array.from({ length: subscriptions }, () => ({ filter: ALL, after: BEGINNING })),
  });
  const countIn = (text = "") => text.split("event: task.created").length - 1;

  it("has 2,000 events at most, of which each team gets its share, and the others what one leaves", async () => {
    const [loud, louder, quiet] = [await openTeam(3_000), await openTeam(3_000), await openTeam(1)];

    const answers = await serializer.look([loud, louder, quiet].map((teamId) => askedBy(teamId)));

    const counts = answers.map(({ texts }) => countIn(texts[0]));
    const [ofLoud = 0, ofLouder = 0, ofQuiet] = counts;
    assert.ok(ofLoud + ofLouder <= MOST.events && ofLoud + ofLouder > MOST.events * 0.9, `${counts}`);
    assert.ok(Math.abs(ofLoud - ofLouder) < MOST.events / 10, `${counts}`);
    assert.equal(ofQuiet, 1);
    assert.deepEqual(
      answers.map(({ hasMore }) => hasMore),
      [true, true, false],
    );
  });

  it("gives one team alone what all others leave", async () => {
    const loud = await openTeam(2_500);
    const idle = await Promise.all(Array.from({ length: 50 }, () => openTeam(0)));
    const answers = await serializer.look([...idle, loud].map((teamId) => askedBy(teamId)));
    assert.ok(countIn(answers.at(-1)?.texts[0]) > MOST.events * 0.9);
  });

  it("answers nothing to no question", async () => {
    assert.deepEqual(await serializer.look([]), []);
  });

  it("has 2^24 characters at most, and leaves out no team", async () => {
    const url = `http://localhost/${"u".repeat(CALL_LIMITS.url - 100)}`;
    const teams = [await openTeam(400, url), await openTeam(400, url), await openTeam(1)];

    const answers = await serializer.look(teams.map((teamId) => askedBy(teamId, 4)));

    const lengths = answers.map(({ texts }) => texts.reduce((sum, { length }) => sum + length, 0));
    const sum = lengths.reduce((all, each) => all + each, 0);
    assert.ok(sum < MOST.characters + 3 * 4 * 10_000 && sum > MOST.characters * 0.8, `${lengths}`);
    assert.equal(countIn(answers[2]?.texts[0]), 1);
  });

  it("loses and repeats no event from one look to the next", async () => {
    const url = `http://localhost/${"u".repeat(2_000)}`;
    const teams = [await openTeam(2_300), await openTeam(700, url), await openTeam(5)];
    const told = new Map(teams.map((teamId) => [teamId, [] as string[]]));
    let asked = teams.map((teamId) => askedBy(teamId));
    for (let rounds = 0; asked.length > 0; rounds += 1) {
      assert.ok(rounds < 20, `${rounds} looks`);
      const answers = await serializer.look(asked);
      asked = asked.flatMap((question, index) => {
        const { position, texts, hasMore } = answers[index] ?? assert.fail("no answer");
        told
          .get(question.teamId)
          ?.push(...[...(texts[0] ?? "").matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => id));
        return hasMore ? [{ ...question, position }] : [];
      });
    }
    for (const [index, count] of [2_300, 700, 5].entries()) {
      const ids = told.get(teams[index] ?? 0) ?? [];
      assert.equal(ids.length, count);
      assert.equal(new Set(ids).size, count);
    }
  });
});
