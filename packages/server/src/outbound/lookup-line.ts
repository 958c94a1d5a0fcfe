import type { Lookup } from "./name-resolver.ts";

/** A running or waiting lookup. */
interface Question {
  readonly hostname: string;
  /** The teams whose calls wait for it; it may count for any of them. */
  readonly teams: Set<number>;
  readonly giveUpAt: number;
  begin(answer: Promise<readonly string[]>): void;
  readonly answer: Promise<readonly string[]>;
}

export interface LookupLine {
  /** The addresses of a name for calls of these teams. */
  find(hostname: string, teams: Iterable<number>): Promise<readonly string[]>;
}

/**
 * Shares one lookup among all connections that wait for the same name, and limits the lookups in flight per team:
 * hanging names delay only the team that called them. Cached names cost nothing.
 */
export function createLookupLine(deps: {
  readonly lookup: Lookup;
  readonly perTeam: number;
  /** A lookup that waited longer is skipped: its calls have timed out. */
  readonly patienceMs: number;
}): LookupLine {
  const { lookup, perTeam, patienceMs } = deps;
  const open = new Map<string, Question>();
  const line = new Set<Question>();
  const underWay = new Map<number, number>();

  function beginIfAllowed(question: Question): void {
    for (const team of question.teams) {
      const count = underWay.get(team) ?? 0;
      if (count >= perTeam) continue;
      line.delete(question);
      if (performance.now() >= question.giveUpAt) {
        open.delete(question.hostname);
        question.begin(Promise.reject(new Error("waited for too long")));
        return;
      }
      underWay.set(team, count + 1);
      question.begin(lookup(question.hostname).finally(() => end(question, team)));
      return;
    }
    line.add(question);
  }

  function end(question: Question, team: number): void {
    open.delete(question.hostname);
    const left = (underWay.get(team) ?? 1) - 1;
    if (left === 0) underWay.delete(team);
    else underWay.set(team, left);
    for (const waiting of line) {
      if ((underWay.get(team) ?? 0) >= perTeam) return;
      if (waiting.teams.has(team)) beginIfAllowed(waiting);
    }
  }

  return {
    find(hostname, teams) {
      const known = lookup.recall?.(hostname) ?? null;
      if (known !== null) return known;
      const joined = open.get(hostname);
      if (joined !== undefined) {
        for (const team of teams) joined.teams.add(team);
        if (line.has(joined)) beginIfAllowed(joined);
        return joined.answer;
      }
      const question = newQuestion(hostname, teams, performance.now() + patienceMs);
      open.set(hostname, question);
      beginIfAllowed(question);
      return question.answer;
    },
  };
}

function newQuestion(hostname: string, teams: Iterable<number>, giveUpAt: number): Question {
  let begin: Question["begin"] = () => {};
  const answer = new Promise<readonly string[]>((resolve) => {
    begin = resolve;
  });
  return { hostname, teams: new Set(teams), giveUpAt, begin, answer };
}
