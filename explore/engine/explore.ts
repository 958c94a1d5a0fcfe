/*
 * An explicit-state model checker. A model is a start, the steps that may happen next in a state, and what must hold. All states that
 * steps lead to are visited, the nearest first, so that the trace of what goes wrong is as short as can be.
 */

/** One atomic step: a statement of the database, or what a process does between two waits. */
export interface Step<State> {
  /** As a sentence, for traces. */
  readonly text: string;
  readonly to: State;
  /** Something that goes wrong, or that somebody may ask for: nothing may depend on its happening. */
  readonly isFault?: boolean;
}

/**
 * States are objects of plain data, without quotation marks in their texts. All have the same fields in the same order, and so have the
 * objects in one place of them: two states with the same values are the same.
 */
export interface Model<State extends object> {
  readonly start: State;
  steps(state: State): readonly Step<State>[];
  /** Why this state must never be; null if it may. */
  wrong(state: State): string | null;
  /** All has come to its end. From every state, such a state must be within reach without a fault. */
  isSettled(state: State): boolean;
}

/** How it comes to what must not be. */
export interface Trace {
  readonly steps: readonly string[];
  readonly wrong: string;
}

export interface Explored {
  readonly states: number;
  readonly steps: number;
  /** Null: everything holds. */
  readonly trace: Trace | null;
}

export const STUCK = "From here on it can never come to its end without a further fault.";
/** More take more memory than Node has by default. */
const MOST_STATES = 3_000_000;

export function explore<State extends object>(model: Model<State>): Explored {
  const places = new Map<string, number>();
  const unvisited: (State | null)[] = [];
  /** Of each state the one that it was first reached from, and by which of its steps. */
  const parents: number[] = [];
  const ways: number[] = [];
  /** Steps that are no faults, each as the state that it leads to with the one that it comes from. */
  const fair: number[] = [];
  const settled: number[] = [];
  let steps = 0;

  function place(state: State, parent: number, way: number): number {
    const text = textOf(state);
    const known = places.get(text);
    if (known !== undefined) return known;
    const number = places.size;
    if (number >= MOST_STATES) throw new Error(`More than ${MOST_STATES} states: take a lower bound`);
    places.set(text, number);
    unvisited.push(state);
    parents.push(parent);
    ways.push(way);
    return number;
  }

  const found = (number: number, wrong: string): Explored => ({
    states: places.size,
    steps,
    trace: { steps: wayTo(model, number, parents, ways), wrong },
  });

  place(model.start, -1, -1);
  for (let number = 0; number < places.size; number += 1) {
    const state = unvisited[number] as State;
    // What was visited is needed no more.
    unvisited[number] = null;
    const wrong = model.wrong(state);
    if (wrong !== null) return found(number, wrong);
    if (model.isSettled(state)) settled.push(number);
    const next = model.steps(state);
    steps += next.length;
    for (const [way, { to, isFault }] of next.entries()) {
      const reached = place(to, number, way);
      if (!isFault) fair.push(reached, number);
    }
  }
  const stuck = firstStuck(places.size, fair, settled);
  return stuck === null ? { states: places.size, steps, trace: null } : found(stuck, STUCK);
}

/** The values of an object, one after the other: what JSON says in a quarter of the time. */
function textOf(object: object): string {
  let text = "";
  for (const value of Object.values(object)) {
    if (typeof value === "string") text += `"${value}"`;
    else if (typeof value !== "object" || value === null) text += `${value},`;
    else text += `[${textOf(value)}]`;
  }
  return text;
}

function wayTo<State extends object>(
  model: Model<State>,
  number: number,
  parents: readonly number[],
  ways: readonly number[],
): string[] {
  const path: number[] = [];
  for (let at = number; at > 0; at = parents[at] ?? 0) path.push(ways[at] ?? 0);
  let state = model.start;
  return path.reverse().map((way) => {
    const step = model.steps(state)[way];
    if (step === undefined) throw new Error("The steps of a state are not the same twice");
    state = step.to;
    return step.text;
  });
}

/** The first state from which no settled one can be reached by fair steps: those walked back from the settled ones. */
function firstStuck(states: number, fair: readonly number[], settled: readonly number[]): number | null {
  // Of each state a list of the steps to it: where the list begins, and what comes after each in it.
  const heads = new Int32Array(states).fill(-1);
  const after = new Int32Array(fair.length / 2);
  for (let step = 0; step < after.length; step += 1) {
    const to = fair[step * 2] ?? 0;
    after[step] = heads[to] ?? -1;
    heads[to] = step;
  }
  const canEnd = new Uint8Array(states);
  const open = [...settled];
  for (const number of settled) canEnd[number] = 1;
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    for (let step = heads[number] ?? -1; step >= 0; step = after[step] ?? -1) {
      const from = fair[step * 2 + 1] ?? 0;
      if (canEnd[from] === 1) continue;
      canEnd[from] = 1;
      open.push(from);
    }
  }
  const stuck = canEnd.indexOf(0);
  return stuck === -1 ? null : stuck;
}
