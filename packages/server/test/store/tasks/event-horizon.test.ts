import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { type EventPlace, readEvents } from "../../../src/store/tasks/event-reads.ts";
import { until } from "../../patience.ts";
import { createTestDatabase, type TestDatabase } from "../../test-database.ts";
import { type TextDatabase, type TextSql, watchDatabase } from "../../test-sql.ts";

interface OpenTransaction extends TextSql {
  end(how?: "commit" | "rollback"): Promise<void>;
}

class Undo extends Error {}

/** Ends what a failing test has left open, which would hold up the others. */
const leftOpen = new Set<() => Promise<void>>();

/** A transaction that has drawn its id and is used later, as one of a program that was busy elsewhere. */
async function begin(database: TextDatabase): Promise<OpenTransaction> {
  let end = (_: "commit" | "rollback") => {};
  const ended = new Promise<"commit" | "rollback">((resolve) => {
    end = resolve;
  });
  return new Promise((resolve, reject) => {
    const done = database.transaction(async (sql) => {
      await sql.rows("select pg_current_xact_id()");
      const close = async (how: "commit" | "rollback" = "commit") => {
        end(how);
        await done.catch(() => {});
        leftOpen.delete(close);
      };
      leftOpen.add(close);
      resolve({ rows: sql.rows, end: close });
      if ((await ended) === "rollback") throw new Undo();
    });
    done.catch((error) => {
      if (!(error instanceof Undo)) reject(error);
    });
  });
}

let teams = 0;

/** Writes events that are told apart by their names, and reads them as a stream does. */
function openTeam() {
  teams += 1;
  const teamId = teams;
  const told: string[] = [];
  const places: string[] = [];
  let place: EventPlace = { teamId, position: { xid: "0", seq: "0", index: 0, atMs: 0 } };
  const team = {
    told,
    /** Where each stands that was told, in that order. */
    places,
    async write(sql: TextSql, ...names: string[]): Promise<void> {
      await sql.rows("insert into events (team_id, sandbox, queue, entries) values ($1, false, 'q', $2)", [
        teamId,
        JSON.stringify(names.map((name) => ["target.down", name])),
      ]);
    },
    async read(sql: TextSql, most = 100): Promise<readonly string[]> {
      const { pages } = await readEvents(sql, [place], most);
      const [{ rows, position } = { rows: [], position: place.position }] = pages;
      for (const { xid, seq, entries } of rows) {
        told.push(...entries.map((entry) => String(entry[1])));
        places.push(`${xid.padStart(20, "0")} ${seq.padStart(20, "0")}`);
      }
      place = { teamId, position };
      return told;
    },
    async reads(sql: TextSql, ...names: string[]): Promise<void> {
      await until(async () => (await team.read(sql)).length >= names.length, { what: () => `${told}` });
      assert.deepEqual(told, names);
    },
  };
  return team;
}

describe("events", () => {
  let test: TestDatabase;
  let database: TextDatabase;
  let others: TextDatabase;
  before(async () => {
    test = await createTestDatabase();
    database = test.database;
    others = test.open(4);
    await database.rows("create table elsewhere (name text)");
  });
  afterEach(async () => {
    for (const close of leftOpen) await close();
  });
  after(() => test.drop());

  it("are read in pages, which may end within a row and begin behind one that is larger than a page", async () => {
    const team = openTeam();
    const large = "x".repeat(600);
    const rows = [["1", "2", "3"], [large], ["4", "5"], ["6"], ["7"], ["8", "9"]];
    for (const row of rows) await team.write(database, ...row);
    const counts: number[] = [];
    await until(async () => {
      const before = team.told.length;
      const count = (await team.read(database, 2)).length - before;
      if (count > 0) counts.push(count);
      return team.told.length >= rows.flat().length;
    });
    assert.deepEqual(team.told, rows.flat());
    assert.deepEqual(counts, [2, 2, 2, 2, 2]);
  });

  it("are read while a transaction is open that writes to another database", async () => {
    const foreign = await createTestDatabase();
    const idle = await begin(foreign.database);
    await idle.rows("create table mine as select 1 as one");
    const team = openTeam();
    try {
      await team.write(database, "one");
      await team.reads(database, "one");
    } finally {
      await idle.end();
      await foreign.drop();
    }
  });

  it("are read while a transaction is open that writes to another table", async () => {
    const idle = await begin(others);
    await idle.rows("insert into elsewhere values ('one')");
    const team = openTeam();
    try {
      for (const name of ["one", "two"]) {
        await team.write(database, name);
        await until(async () => (await team.read(database)).at(-1) === name);
      }
    } finally {
      await idle.end();
    }
    await team.reads(database, "one", "two");
  });

  it("wait for a transaction that has written an event, and come after it", async () => {
    const team = openTeam();
    const open = await begin(others);
    await team.write(open, "held");
    await team.write(database, "later");
    assert.deepEqual(await team.read(database), []);

    await open.end();
    await team.reads(database, "held", "later");
  });

  it("wait for a statement that may write events but found nobody to tell", async () => {
    const team = openTeam();
    const open = await begin(others);
    await open.rows(
      "insert into events (team_id, sandbox, queue, entries) select 1, false, '', '[]' where false",
    );
    await team.write(database, "later");
    assert.deepEqual(await team.read(database), []);

    await open.end("rollback");
    await team.reads(database, "later");
  });

  it("of a transaction with an old id are read if it writes them after a look that passed it", async () => {
    const team = openTeam();
    const old = await begin(others);
    await team.write(database, "one");
    await team.reads(database, "one");

    // No transaction has ended since: its event stands at the very place that was read last.
    await team.write(old, "two");
    await team.write(database, "three");
    await team.read(database);
    await old.end();
    await team.reads(database, "one", "two", "three");
    assert.deepEqual(team.places, team.places.toSorted());
  });

  it("of a transaction that commits between the look and the read are read once", async () => {
    const team = openTeam();
    const open = await begin(others);
    await team.write(open, "one");
    await team.write(database, "two");
    const sql = watchDatabase(database);
    sql.before = async (statement) => {
      if (statement === "read_events") await open.end();
    };
    await team.read(sql);
    await team.reads(database, "one", "two");
  });

  it("of a transaction that writes its first between the look and the read are not passed", async () => {
    const team = openTeam();
    const old = await begin(others);
    await team.write(database, "one");
    const sql = watchDatabase(database);
    sql.before = async (statement) => {
      if (statement !== "read_events") return;
      sql.before = () => {};
      await team.write(old, "two");
      await team.write(database, "three");
    };
    await team.read(sql);
    await old.end();
    await team.reads(database, "one", "two", "three");
  });

  it("are read once each, in the order of their places, however transactions and looks interleave", async () => {
    for (const seed of [1, 2, 3]) await interleave(seed);
  });

  async function interleave(seed: number): Promise<void> {
    const next = random(seed);
    const team = openTeam();
    const open: { readonly transaction: OpenTransaction; readonly wrote: string[] }[] = [];
    const committed: string[] = [];
    let count = 0;
    const newName = () => {
      count += 1;
      return String(count);
    };

    async function step(): Promise<void> {
      const choice = next(5);
      const entry = open[next(open.length)];
      if (choice === 0 && open.length < 3) {
        open.push({ transaction: await begin(others), wrote: [] });
      } else if (choice <= 2 && entry !== undefined) {
        const name = newName();
        await team.write(entry.transaction, name);
        entry.wrote.push(name);
      } else if (choice === 3 && entry !== undefined) {
        open.splice(open.indexOf(entry), 1);
        const how = next(4) === 0 ? "rollback" : "commit";
        await entry.transaction.end(how);
        if (how === "commit") committed.push(...entry.wrote);
      } else {
        const name = newName();
        await team.write(database, name);
        committed.push(name);
      }
    }

    const sql = watchDatabase(database);
    sql.before = async (statement) => {
      if (statement === "read_events") for (let left = next(3); left > 0; left -= 1) await step();
    };
    for (let round = 0; round < 60; round += 1) {
      for (let left = next(4); left > 0; left -= 1) await step();
      await team.read(sql);
    }
    for (const { transaction } of open) await transaction.end("rollback");
    await until(async () => (await team.read(database)).length >= committed.length, {
      what: () => `seed ${seed}: ${committed.filter((name) => !team.told.includes(name))}`,
    });
    assert.deepEqual(team.told.toSorted(), committed.toSorted(), `seed ${seed}`);
    assert.deepEqual(team.places, team.places.toSorted(), `seed ${seed}`);
  }
});

/** Whole numbers below the given one, the same for each seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
