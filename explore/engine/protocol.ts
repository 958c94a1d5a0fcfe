import { type Explored, explore, type Model, type Step } from "./explore.ts";

/** What every state of a protocol holds. */
export interface Base {
  /** Faults so far, and what was asked for: at most as many as the bound. */
  readonly faults: number;
  /** What the last step did that must never be; null, as it should be. */
  readonly wrong: string | null;
}

/** A step with its guard. Null: it cannot happen in this state. */
export interface Action<State> {
  readonly text: string;
  readonly isFault?: boolean;
  readonly next: (state: State) => State | null;
}

/** One protocol of Bellhop. Its bugs are those that somebody could have written. */
export interface Protocol {
  readonly name: string;
  readonly about: string;
  /** What each bug is, as a sentence. */
  readonly bugs: Readonly<Record<string, string>>;
  /** Faults in one path: the least finds every bug, the usual takes up to a minute. */
  readonly bounds: { readonly least: number; readonly usual: number };
  explore(bound: number, bug: string | null): Explored;
}

export function defineProtocol<State extends Base, Bug extends string>(
  options: Omit<Protocol, "bugs" | "explore"> & {
    readonly bugs: Readonly<Record<Bug, string>>;
    readonly build: (bug: Bug | null) => {
      readonly start: State;
      readonly actions: readonly Action<State>[];
      readonly wrong: (state: State) => string | null;
      readonly isSettled: (state: State) => boolean;
    };
  },
): Protocol {
  const { build, ...rest } = options;
  const isBug = (name: string): name is Bug => name in options.bugs;
  return {
    ...rest,
    explore(bound, bug) {
      if (bug !== null && !isBug(bug)) throw new Error(`${options.name} has no bug "${bug}"`);
      const { start, actions, wrong, isSettled } = build(bug);
      const model: Model<State> = {
        start,
        isSettled,
        wrong: (state) => state.wrong ?? wrong(state),
        steps: (state) => stepsOf(state, actions, bound),
      };
      return explore(model);
    },
  };
}

function stepsOf<State extends Base>(
  state: State,
  actions: readonly Action<State>[],
  bound: number,
): Step<State>[] {
  const steps: Step<State>[] = [];
  for (const { text, isFault = false, next } of actions) {
    if (isFault && state.faults >= bound) continue;
    const to = next(state);
    if (to === null) continue;
    steps.push({
      text,
      to: isFault ? { ...to, faults: state.faults + 1 } : to,
      isFault,
    });
  }
  return steps;
}

/** Steps of each of several processes, by their texts, in which `*` stands for the name of the process. */
export function forEach<State>(
  names: readonly string[],
  moves: Readonly<Record<string, (state: State, at: number) => State | null>>,
  isFault = false,
): Action<State>[] {
  return Object.entries(moves).flatMap(([text, move]) =>
    names.map((name, at) => ({
      text: text.replace("*", name),
      isFault,
      next: (state: State) => move(state, at),
    })),
  );
}

/** Steps of one process, by their texts. */
export function once<State>(
  moves: Readonly<Record<string, (state: State) => State | null>>,
  isFault = false,
): Action<State>[] {
  return Object.entries(moves).map(([text, next]) => ({ text, isFault, next }));
}
