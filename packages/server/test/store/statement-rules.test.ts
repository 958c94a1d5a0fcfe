import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { SERVER } from "../places.ts";

/*
 * What a PostgreSQL that is distributed by team (Citus) refuses in a statement, though it would cost nothing to write it
 * otherwise: compute such values in a CTE, or pass them in. Looked for in the text, literal by literal: what two literals
 * make together is not seen.
 */

/** A function that is not immutable. */
const UNSTABLE =
  /\b(?:now|clock_timestamp|gen_random_uuid|random)\(\)|\b(?:make_interval|to_char|jsonb_build_object)\(|\binterval '/;

const RULES: Record<string, (text: string) => number> = {
  "unstable in coalesce": (text) => count(insideOf(text, /\bcoalesce\s*\(/g)),
  "unstable in case": (text) => count([...text.matchAll(/\bcase\b.*?\bend\b/gs)].map(([all]) => all)),
  "unstable in returning": (text) => count(returnings(text)),
  "unstable in on conflict": (text) =>
    count([...text.matchAll(/\bon conflict\b.*?(?=\breturning\b|\n\s*\)|$)/gs)].map(([all]) => all)),
  "a CTE in returning": (text) => {
    const names = [...text.matchAll(/(?:\bwith|,)\s+(\w+) as (?:materialized )?\(/g)].map(([, name]) => name);
    return returnings(text).filter((part) =>
      names.some((name) => part.includes(`(select`) && mentions(part, name)),
    ).length;
  },
  "limit in a lateral over values": (text) =>
    [...text.matchAll(/\bvalues\b.*\blateral\b.*\blimit\b/gs)].length,
  "a join with workers": (text) => [...text.matchAll(/\bjoin workers\b/g)].length,
};

/**
 * What was there when the rules were written down. Most are of the hot path, where another form has to be measured first.
 * A line may go, and none may come.
 */
const DEBTS = [
  "features/bulk-actions/store.ts: unstable in case (2)",
  "features/stats/store.ts: unstable in case (1)",
  "features/webhooks/store.ts: unstable in coalesce (1)",
  "tasks/due-queues.ts: limit in a lateral over values (1)",
  "tasks/explanations.ts: a join with workers (2)",
  "tasks/notifications.ts: unstable in coalesce (1)",
  "tasks/task-cancellations.ts: unstable in case (1)",
  "tasks/task-claims.ts: limit in a lateral over values (1)",
  "tasks/task-claims.ts: unstable in coalesce (1)",
  "tasks/task-intake.ts: unstable in case (1)",
  "tasks/task-intake.ts: unstable in coalesce (1)",
  "tasks/task-intake.ts: unstable in on conflict (1)",
  "tasks/task-removals.ts: limit in a lateral over values (1)",
  "tasks/task-retries.ts: unstable in case (2)",
  "tasks/webhook-deliveries.ts: unstable in coalesce (1)",
];

describe("the names of statements", () => {
  it("are unique in the whole server", async () => {
    const home = join(SERVER, "src");
    const files = (await readdir(home, { recursive: true })).filter((name) => name.endsWith(".ts"));
    const texts = await Promise.all(files.map((name) => readFile(join(home, name), "utf8")));
    const names = texts.flatMap((text) =>
      [...text.matchAll(/\b(?:statement|hotStatement|dueTeams|untilNext)\(\s*"(\w+)"/g)].map(
        ([, name]) => name,
      ),
    );
    assert.ok(names.length > 200);
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });
});

describe("the statements on tables of a team", () => {
  it("use only what a database distributed by team can run, except for known debts", async () => {
    const home = join(SERVER, "src");
    const files = (await readdir(home, { recursive: true })).filter((name) =>
      /^store\/(?:tasks|vault)\/|^features\/[^/]+\/store[^/]*\.ts$/.test(name),
    );
    const found: string[] = [];
    for (const name of files) {
      const breaches = breachesIn(await readFile(join(home, name), "utf8"));
      for (const [rule, count] of Object.entries(breaches))
        found.push(`${name.replace(/^store\//, "")}: ${rule} (${count})`);
    }
    assert.deepEqual(found.sort(), DEBTS);
  });

  for (const [rule, text] of Object.entries({
    "unstable in coalesce": "update t set a = coalesce(b, now() + make_interval(secs => c))",
    "unstable in case": "update t set a = case when b then now() end",
    "unstable in returning": "update t set a = 1 returning a, now() as at",
    "unstable in on conflict": "insert into t values (1) on conflict (a) do update set at = now()",
    "a CTE in returning": "with due as (select 1) update t set a = 1 returning (select * from due)",
    "limit in a lateral over values":
      "select 1 from (values (1)) as p(n) cross join lateral (select 1 from t limit 1) x",
    "a join with workers": "select 1 from tasks t left join workers w on w.id = t.worker_id",
  }))
    it(`are checked for: ${rule}`, () => {
      assert.deepEqual(breachesIn(`sql.rows(\`${text}\`)`), { [rule]: 1 });
      assert.deepEqual(breachesIn(`/** ${text} */`), {});
    });
});

function breachesIn(source: string): Record<string, number> {
  const texts = literalsOf(source).map((text) => text.replace(/--.*$/gm, ""));
  const counted = Object.entries(RULES).map(([rule, countIn]) => {
    return [rule, texts.reduce((sum, text) => sum + countIn(text), 0)] as const;
  });
  return Object.fromEntries(counted.filter(([, breaches]) => breaches > 0));
}

function count(parts: readonly string[]): number {
  return parts.filter((part) => UNSTABLE.test(part)).length;
}

function mentions(part: string, name = ""): boolean {
  return new RegExp(`\\bfrom ${name}\\b`).test(part);
}

/** As far as the end of the CTE that it is in, or of the statement. */
function returnings(text: string): string[] {
  return [...text.matchAll(/\breturning\b(.*?)(?=\n\s*\)|$)/gs)].map(([, part = ""]) => part);
}

/** What stands in the brackets that each match opens. */
function insideOf(text: string, opening: RegExp): string[] {
  return [...text.matchAll(opening)].map((match) => {
    const from = match.index + match[0].length;
    let open = 1;
    let at = from;
    for (; open > 0 && at < text.length; at += 1) {
      if (text[at] === "(") open += 1;
      if (text[at] === ")") open -= 1;
    }
    return text.slice(from, at);
  });
}

/** The string and template literals of a source, with what is put into them as it is written there; comments are skipped. */
function literalsOf(source: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < source.length; at += 1) {
    if (source.startsWith("//", at)) at = ending(source, "\n", at);
    else if (source.startsWith("/*", at)) at = ending(source, "*/", at) + 1;
    else if (source[at] === '"' || source[at] === "`") {
      const end = endOfLiteral(source, at);
      found.push(source.slice(at + 1, end));
      at = end;
    }
  }
  return found;
}

function ending(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at < 0 ? source.length : at;
}

function endOfLiteral(source: string, start: number): number {
  const quote = source[start];
  let at = start + 1;
  while (at < source.length && source[at] !== quote) {
    if (source[at] === "\\") at += 1;
    else if (quote === "`" && source.startsWith("${", at)) at = endOfExpression(source, at + 2);
    at += 1;
  }
  return at;
}

function endOfExpression(source: string, start: number): number {
  let at = start;
  for (let open = 1; at < source.length; at += 1) {
    if (source[at] === '"' || source[at] === "`") at = endOfLiteral(source, at);
    else if (source[at] === "{") open += 1;
    else if (source[at] === "}") open -= 1;
    if (open === 0) break;
  }
  return at;
}
