import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Change, Mutant } from "./mutant.ts";
import { changesOfSql } from "./sql-operators.ts";
import { groupTokens, readTokens } from "./sql-text.ts";
import { childrenOf, type Node, parse, placeOf, statementOf, walk } from "./syntax.ts";
import { changesOfNode } from "./ts-operators.ts";

/** What decides which task runs, when and how often. */
export const FOLDERS = ["domain", "engine", "store", "features"] as const;

/** Released migrations have run. What a feature says of itself to the API is checked by its tests of texts. */
const LEFT_OUT = /\/migrations\/|\/schemas[^/]*\.ts$|\.d\.ts$/;
/** The texts of these are SQL. */
const HAS_SQL = /^store\/|^features\/[^/]+\/store|^postgres\//;
const SQL =
  /\b(select|insert into|delete from|where|returning|coalesce|order by|is null|is not null|now\(\)|for (no key )?update)\b|[<>=] *(\$|now)|^\w+\.\w+ *[<>=]|\b(and|or|set)\b[\s\S]*[<>=(]/;

export interface SourceFile {
  readonly file: string;
  readonly source: string;
}

/** `folders` are below packages/server/src, like `domain` or `features/schedules`; files are too. */
export function readSources(home: string, folders: readonly string[]): SourceFile[] {
  return readdirSync(home, { recursive: true })
    .map((name) => String(name).replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".ts") && !LEFT_OUT.test(name))
    .filter((name) => folders.some((folder) => name === folder || name.startsWith(`${folder}/`)))
    .sort()
    .map((file) => ({ file, source: readFileSync(join(home, file), "utf8") }));
}

/** All mutants of a file, in the order of its text. */
export function mutantsOf({ file, source }: SourceFile): Mutant[] {
  const changes: Change[] = [];
  walk(parse(source), (node, around) => {
    const sql = HAS_SQL.test(file) ? sqlChanges(node, around, source) : [];
    const place = placeOf([...around, node]);
    const isError = around.some(({ type }) => type === "ThrowStatement");
    if (isError) return;
    changes.push(
      ...sql,
      ...changesOfNode(node, around, source).map((made) => ({ ...made, place, sql: null })),
    );
  });
  changes.sort((one, other) => one.start - other.start || one.end - other.end);
  return named(file, changes);
}

/** Two changes that make the same text are one. */
function named(file: string, changes: readonly Change[]): Mutant[] {
  const counts = new Map<string, number>();
  const made = new Set<string>();
  return changes.flatMap(({ place, ...change }) => {
    const same = `${change.start} ${change.end} ${change.replacement}`;
    if (made.has(same)) return [];
    made.add(same);
    const kind = `${file} ${place} ${change.operator}`;
    const ordinal = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, ordinal);
    return [{ name: `${kind} ${ordinal}`, file, ...change }];
  });
}

function sqlChanges(node: Node, around: readonly Node[], source: string): Change[] {
  const isText = typeof node["value"] === "string" && source[node.start] !== "'";
  if (node.type !== "TemplateLiteral" && !(node.type === "Literal" && isText)) return [];
  const own = { start: node.start + 1, end: node.end - 1 };
  const text = source.slice(own.start, own.end);
  if (!SQL.test(text)) return [];
  const quasis = childrenOf(node, "quasis");
  const holes = quasis.slice(1).map((next, index) => ({
    start: textRange(quasis[index] as Node).end,
    end: textRange(next).start,
  }));
  const isRaw = around.at(-1)?.type === "TaggedTemplateExpression";
  const parts =
    quasis.length === 0
      ? [{ ...own, sql: String(node["value"]) }]
      : quasis.map((quasi) => ({
          ...textRange(quasi),
          sql: isRaw ? textsOf(quasi).raw : textsOf(quasi).cooked,
        }));
  const place = statementOf(node, around) ?? placeOf(around);
  return changesOfSql(groupTokens(readTokens(source, own, holes)), source).map((change) => {
    const touched = parts.filter(({ start, end }) => start < change.end && end > change.start);
    const pieces = touched.map(({ sql }) => sql);
    const sql = pieces.sort((one, other) => other.length - one.length)[0] ?? "";
    return { ...change, place, probe: node.start, sql };
  });
}

/** Without the signs around it, which the parser counts as a part of it. */
function textRange(quasi: Node): { start: number; end: number } {
  const start = quasi.start + 1;
  return { start, end: start + textsOf(quasi).raw.length };
}

function textsOf(quasi: Node): { readonly raw: string; readonly cooked: string } {
  return quasi["value"] as { readonly raw: string; readonly cooked: string };
}
