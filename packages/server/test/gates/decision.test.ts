import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { gatesOf } from "../../src/domain/circumstances.ts";
import { choose, decide, type HeldReason, whyHeld } from "../../src/domain/gate/decision.ts";
import type { Gate } from "../../src/domain/gate/gate.ts";
import { findCircumstances } from "../../src/store/tasks/explanations.ts";
import type { TextDatabase, TextSql } from "../test-sql.ts";
import { live } from "../test-store.ts";
import { CLAIM_KINDS, type ClaimKind, type Team, team } from "./random-team.ts";
import { isFor, readState, type TeamState, type Waiting } from "./read-gates.ts";
import { type AskedTeam, openClaims } from "./real-claims.ts";
import { NOW, openTeamDatabase, readTeams, storeTeams, type TeamDatabase } from "./team-database.ts";
import { rowsOf } from "./team-rows.ts";

/*
 * The claims decide in SQL, the rest of the product by domain/gate. Random teams are stored, the real claims are carried out, and what they took is
 * compared with what the decision says of the same rows.
 *
 * `GATE_STATES=100000 GATE_SEED=7 node scripts/test.mjs packages/server/test/gates/decision.test.ts` looks further. The seed of a failure is printed.
 */

const SEED = Number(process.env["GATE_SEED"] ?? 2030);
const STATES = Number(process.env["GATE_STATES"] ?? 600);
/** Teams that are stored, claimed for and read together. */
const TOGETHER = 100;

describe("the claims and the decision", () => {
  let store: TeamDatabase;
  let lastTeam = 1_000;
  const seen = new Map<string, number>();
  before(async () => {
    store = await openTeamDatabase();
  });
  after(() => store.close());

  it("let the same tasks start, in the same order", async (test) => {
    for (let done = 0; done < STATES; done += TOGETHER) {
      const seed = SEED + done;
      const teams = fc.sample(team, { seed, numRuns: Math.min(TOGETHER, STATES - done) });
      const differences = await differencesOf(teams);
      const index = differences.findIndex((difference) => difference !== null);
      if (index !== -1) await shrink(seed, index, differences[index] as Error);
    }
    test.diagnostic(JSON.stringify(Object.fromEntries([...seen].sort())));
  });

  /** Looks for the smallest team that shows a difference. */
  async function shrink(seed: number, index: number, first: Error): Promise<never> {
    const alone = fc.asyncProperty(team, async (one) => {
      const [difference] = await differencesOf([one]);
      if (difference != null) throw difference;
    });
    await fc.assert(alone, { seed, path: String(index), endOnFailure: false });
    throw first;
  }

  /** Of each team; null: there is none. All is undone. */
  async function differencesOf(teams: readonly Team[]): Promise<(Error | null)[]> {
    const { database, workerId, busyWorkerId } = store;
    const first = lastTeam + 1;
    lastTeam += teams.length;
    const found: (Error | null)[] = [];
    const undone = database.transaction(async (sql) => {
      const rows = teams.map((one, index) => rowsOf(first + index, one, busyWorkerId));
      await storeTeams(sql, rows, first, lastTeam);
      const within = inTransaction(sql);
      const asked = teams.map((one, index): AskedTeam => {
        return { teamId: first + index, queues: one.queues.map((_, each) => `queue-${each}`) };
      });
      const claims = await openClaims(within, workerId, asked);
      const before = await readTeams(sql, first, lastTeam);
      const taken: Taken[] = [];
      for (const [index, { claim: preferred, asks }] of teams.entries()) {
        const teamId = first + index;
        const [state, own] = [before.get(teamId), claims.get(teamId)];
        if (state === undefined || own === undefined) throw new Error("A team was not stored");
        const of = readState(state, own.free());
        const { claim, queueId } = claimFor(preferred, of);
        const asked = asks === null ? undefined : of.waiting[asks % of.waiting.length];
        const told = asked === undefined ? null : await whatIsTold(sql, teamId, asked, of);
        const rounds: (readonly string[])[] = [];
        for (let ids = await own.claim(claim, queueId, of); ; ids = await own.claim(claim, queueId, of)) {
          rounds.push(ids);
          if (ids.length === 0) break;
        }
        taken.push({ claim, queueId, of, told, rounds, free: own.free() });
      }
      const left = await readTeams(sql, first, lastTeam);
      for (const [index, each] of taken.entries()) {
        const rest = left.get(first + index);
        found.push(rest === undefined ? null : difference(each, readState(rest, each.free)));
      }
      throw new Undo();
    });
    await undone.catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error;
    });
    return found;
  }

  interface Taken {
    readonly claim: ClaimKind;
    readonly queueId: number;
    /** Before the claims. */
    readonly of: TeamState;
    readonly told: Told | null;
    readonly rounds: readonly (readonly string[])[];
    readonly free: ReadonlyMap<number, number>;
  }

  function difference({ claim, queueId, of, told, rounds }: Taken, rest: TeamState): Error | null {
    const candidates = of.waiting.filter(isFor(claim, queueId, of));
    const chosen = idsOf(choose(candidates, NOW));
    count(claim, chosen.length);
    // A claim for several queues answers one queue after the other.
    const queueOf = new Map(candidates.map((task) => [task.id, task.queueId]));
    const inOrder = (ids: readonly string[]) =>
      claim === "shared"
        ? [...ids].sort((one, other) => (queueOf.get(one) ?? 0) - (queueOf.get(other) ?? 0))
        : ids;
    const [first = []] = rounds;
    try {
      assert.deepEqual(told?.explained, told?.decided, "what explain says");
      if (
        (claim === "flows" || claim === "both") &&
        areCrossed(candidates) &&
        first.join() !== chosen.join()
      ) {
        count("crossed", chosen.length);
        const among = candidates.filter(({ id }) => first.includes(id));
        assert.deepEqual(first, idsOf(choose(among, NOW)), "the first claim takes what may start together");
      } else assert.deepEqual(inOrder(first), inOrder(chosen), "the first claim");
      const left = rest.waiting.filter(isFor(claim, queueId, of));
      const missed = idsOf(left.filter((task) => decide(task.gates, task, NOW).starts));
      assert.deepEqual(missed, [], "what the claims left, although it may start");
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  function count(claim: string, started: number): void {
    const what = `${claim}: ${started === 0 ? "nothing" : started === 1 ? "one" : "more"}`;
    seen.set(what, (seen.get(what) ?? 0) + 1);
  }
});

interface Told {
  readonly explained: readonly string[];
  readonly decided: readonly string[];
}

/** What explain reads of a task, and what the rows say. */
async function whatIsTold(
  sql: TextSql,
  teamId: number,
  task: Waiting,
  state: TeamState,
): Promise<Told | null> {
  const circumstances = await findCircumstances(sql, live(teamId), task.id);
  if (circumstances === null) throw new Error("A task was not found");
  const reasonsAt = (gates: readonly Gate[]) =>
    whyHeld(gates, task, NOW)
      .filter(({ gate, reason }) => isKnown(gate, reason, state))
      .map(({ gate, reason, by }) =>
        [gate.kind, reason, ...(reason === "blocked_by" ? [by?.id] : [])].join(" "),
      )
      .sort();
  return { explained: reasonsAt(gatesOf(circumstances)), decided: reasonsAt(task.gates) };
}

/**
 * explain counts the calls of a queue, a claim its slots. What a line knows is recorded when a claim looks at it. A late task is not among
 * those that start, but counted among those that go first, until it is ended.
 */
function isKnown({ name }: Gate, reason: HeldReason, { lookedAt, hasLate }: TeamState): boolean {
  if (reason === "queue_full") return false;
  return (reason !== "blocked_by" && reason !== "behind") || (lookedAt.has(name) && !hasLate);
}

/** The claim to try, and its queue: one that finds tasks, if there is any. */
function claimFor(preferred: ClaimKind, state: TeamState): { claim: ClaimKind; queueId: number } {
  const at = CLAIM_KINDS.indexOf(preferred);
  for (const claim of [...CLAIM_KINDS.slice(at), ...CLAIM_KINDS.slice(0, at)])
    for (const { id: queueId } of state.queues)
      if (state.waiting.some(isFor(claim, queueId, state))) return { claim, queueId };
  return { claim: preferred, queueId: state.queues[0]?.id ?? 0 };
}

const idsOf = (tasks: readonly Waiting[]) => tasks.map(({ id }) => id);

/**
 * The one difference: a claim shares out the places and permits of each flow first, and then the slots of each queue. What a task of a flow got that
 * then finds no slot in its queue, another task of that flow in another queue gets with the next claim.
 */
function areCrossed(candidates: readonly Waiting[]): boolean {
  return candidates.some(({ flow, queueId, gates }) => {
    const limits = gates.find(({ kind }) => kind === "flow")?.limits;
    const isLimited = limits?.concurrency != null || limits?.rate != null;
    const isElsewhere = candidates.some((other) => other.flow === flow && other.queueId !== queueId);
    const isContended = candidates.some((other) => other.flow !== flow && other.queueId === queueId);
    return isLimited && isElsewhere && isContended;
  });
}

class Undo extends Error {}

/** Transactions within it are part of it. */
function inTransaction(sql: TextSql): TextDatabase {
  return { rows: sql.rows, transaction: (work) => work(sql) };
}
