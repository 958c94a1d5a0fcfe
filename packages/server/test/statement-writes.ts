/*
 * The updates and deletes of a statement, and how each chooses its rows. A reader of SQL as this server writes it, in lower case and
 * with each CTE in parentheses, not of any SQL.
 */

export interface Write {
  readonly table: string;
  /** The conditions on a column of the row itself that may change, which PostgreSQL asks again once it has waited for the row. */
  readonly repeated: readonly string[];
  /** The rows are named by something else: another table, a CTE, a subquery or a list. */
  readonly isByKeys: boolean;
  /** What names them has written the rows that these belong to, in the same statement. */
  readonly isCascade: boolean;
  /** The tables whose rows are locked where the rows are chosen. */
  readonly locked: readonly string[];
  /** The conditions that ask other tables about a value of the row. The other tables are not read again. */
  readonly stale: readonly string[];
}

/** What the primary key of each table consists of. */
export type Keys = ReadonlyMap<string, readonly string[]>;

export function keysOf(schema: string): Keys {
  const tables = schema.matchAll(/^create table (\w+) \((.*?)^\)/gms);
  return new Map(
    [...tables].map(([, table = "", body = ""]) => {
      const [, columns = ""] = /PRIMARY KEY \(([^)]*)\)/.exec(body) ?? [];
      return [table, columns.split(", ")];
    }),
  );
}

const WRITE =
  /(?<!\b(?:for|key|do) )\b(delete from|update) (\w+)(?: (?!set\b|where\b|using\b|returning\b)(\w+))?(?= set\b| where\b| using\b| returning\b|\)|$)/g;

export function writesOf(text: string, keys: Keys): Write[] {
  const plain = text
    .replace(/--.*$/gm, "")
    .replace(/'(?:[^']|'')*'/g, "''")
    .replace(/\s+/g, " ")
    .trim();
  const ctes = ctesOf(plain);
  return [...plain.matchAll(WRITE)].map((found) => {
    const [, verb, table = "", alias = table] = found;
    const body = plain.slice(found.index, closing(plain, found.index));
    const end = nextWord(body, /\breturning\b/g, 0) ?? body.length;
    const where = nextWord(body, /\bwhere\b/g, 0) ?? end;
    const using = nextWord(body, verb === "update" ? /\bfrom\b/g : /\busing\b/g, 0) ?? where;
    const sources = body.slice(Math.min(using, where), where);
    const condition = body.slice(Math.min(where + 5, end), end);
    const conditions = conjunctsOf(condition);
    const key = keys.get(table) ?? [];
    const changeable = (columns: readonly string[]) => columns.filter((column) => !key.includes(column));
    const isNamed = key.every((column) =>
      conditions.some((each) => new RegExp(`^(?:${alias}\\.)?${column} = \\$\\d+$`).test(each)),
    );
    const isListed = /\bany ?\(|\bin \(\)|= \(\)/.test(withoutQueries(condition));
    return {
      table,
      repeated: conditions.filter((each) => {
        const own = ownColumns(withoutQueries(each), alias);
        return own.includes("fence") || changeable(own).length > 0;
      }),
      isByKeys: !isNamed && (isListed || namesRows(sources, ctes)),
      isCascade: wordsOf(sources).some((name) => /^(?:delete|update|insert)\b/.test(ctes.get(name) ?? "")),
      locked: reachedFrom(`${sources} ${condition}`, ctes).flatMap(tablesLockedBy),
      stale: conditions.filter((each) => ownColumns(queriesIn(each), alias, true).length > 0),
    };
  });
}

function ctesOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { 0: all, 1: name = "", index } of text.matchAll(
    /(\w+) as (?:not )?(?:materialized )?\((?= ?(?:select|with|delete|update|insert|values)\b)/g,
  )) {
    const from = index + all.length;
    found.set(name, text.slice(from, closing(text, from)).trim());
  }
  return found;
}

/** The place of the parenthesis that closes what is open at this place, or the end. */
export function closing(text: string, from: number): number {
  let open = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "(") open += 1;
    if (text[at] === ")") open -= 1;
    if (open < 0) return at;
  }
  return text.length;
}

/** The place of the first match outside of parentheses. */
function nextWord(text: string, word: RegExp, from: number): number | null {
  const flat = flatten(text);
  const found = [...flat.matchAll(word)].find(({ index }) => index >= from);
  return found?.index ?? null;
}

/** Of the same length, with blanks for what is in parentheses. */
function flatten(text: string): string {
  let open = 0;
  let flat = "";
  for (const letter of text) {
    if (letter === ")") open -= 1;
    flat += open > 0 ? "_" : letter;
    if (letter === "(") open += 1;
  }
  return flat;
}

function conjunctsOf(condition: string): string[] {
  const flat = flatten(condition);
  const parts: string[] = [];
  let from = 0;
  for (const { index } of flat.matchAll(/\band\b/g)) {
    parts.push(condition.slice(from, index));
    from = index + 3;
  }
  return [...parts, condition.slice(from)].map((part) => part.trim()).filter((part) => part !== "");
}

function queriesIn(condition: string): string {
  return [...condition.matchAll(/\((?=select\b| select\b)/g)]
    .map(({ index }) => condition.slice(index + 1, closing(condition, index + 1)))
    .join(" ");
}

function withoutQueries(condition: string): string {
  const [first] = condition.matchAll(/\((?= ?select\b)/g);
  if (first === undefined) return condition;
  const from = first.index + 1;
  return withoutQueries(condition.slice(0, from) + condition.slice(closing(condition, from)));
}

/** `ctid` is the place of a row, and so as good as its key. */
const NOT_COLUMNS = new Set(
  "ctid and or not in is null any all array exists true false case when then else end distinct from like collate interval".split(
    " ",
  ),
);

/** The columns of the row that a condition names, with its alias or, where that is not asked for, without any. */
function ownColumns(condition: string, alias: string, isWithAlias = false): string[] {
  return [...condition.matchAll(/(?<![$\w.:])(?:(\w+)\.)?([a-z_]\w*)(?![\w(.]| \(| =>)/g)]
    .filter(([, of]) => (of === undefined ? !isWithAlias : of === alias))
    .map(([, , column = ""]) => column)
    .filter((column) => !NOT_COLUMNS.has(column));
}

/** A source of one row without a table, such as `(select now() as at) clock`, names no rows. */
function namesRows(sources: string, ctes: ReadonlyMap<string, string>): boolean {
  const inPlace = sources.replace(/^(?:using|from) /, "");
  if (inPlace === "") return false;
  const named = [...flatten(inPlace).matchAll(/(?:^|, ?|\bjoin )(\w+)/g)].map(([, name = ""]) => name);
  const texts = named.map((name) => ctes.get(name) ?? `from ${name}`);
  const queries = queriesIn(inPlace);
  return [...texts, queries].some((text) => /\bfrom\b/.test(withoutCalls(text)));
}

function withoutCalls(text: string): string {
  return text.replace(/\bextract\([^)]*\)/g, "");
}

function wordsOf(text: string): string[] {
  return text.match(/\w+/g) ?? [];
}

/** This text, and those of the CTEs that it names, and those name. */
function reachedFrom(text: string, ctes: ReadonlyMap<string, string>): string[] {
  const seen = new Set<string>();
  const reached = [text];
  for (const each of reached) {
    for (const name of wordsOf(each)) {
      const cte = ctes.get(name);
      if (cte === undefined || seen.has(name)) continue;
      seen.add(name);
      reached.push(cte);
    }
  }
  return reached;
}

/** By every lock in this text, those that its own query reads. */
function tablesLockedBy(text: string): string[] {
  return [...text.matchAll(/\bfor (?:no key )?update\b(?: of (\w+(?:, ?\w+)*))?/g)].flatMap((lock) => {
    const query = text.slice(opening(text, lock.index), lock.index);
    const of = lock[1]?.split(/, ?/);
    return tablesReadBy(query)
      .filter(({ table, alias }) => of === undefined || of.includes(alias) || of.includes(table))
      .map(({ table }) => table);
  });
}

/** Behind the parenthesis that is open at this place, or the beginning. */
function opening(text: string, from: number): number {
  let open = 0;
  for (let at = from - 1; at >= 0; at -= 1) {
    if (text[at] === ")") open += 1;
    if (text[at] === "(") open -= 1;
    if (open < 0) return at + 1;
  }
  return 0;
}

/** In its own `from`, and in the subqueries there: a lock reaches those, but no subquery of a condition or a column, and no CTE. */
function tablesReadBy(query: string): { readonly table: string; readonly alias: string }[] {
  const from = nextWord(query, /\bfrom\b/g, 0);
  if (from === null) return [];
  const end =
    nextWord(query, /\b(?:where|group by|order by|limit|for (?:no key )?update|union)\b/g, from) ??
    query.length;
  const clause = query.slice(from, end);
  const named = [
    ...flatten(clause).matchAll(/(?:\b(?:from|join)|,) (?!lateral\b)(\w+)(?: (?:as )?(\w+))?/g),
  ].map(([, table = "", alias = ""]) => ({ table, alias }));
  const inner = [...clause.matchAll(/\((?= ?select\b)/g)].map(({ index }) =>
    clause.slice(index + 1, closing(clause, index + 1)),
  );
  return [...named, ...inner.flatMap(tablesReadBy)];
}
