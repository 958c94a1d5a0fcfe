import type { Statement } from "../store/sql.ts";

interface Answer {
  readonly fields: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

export type Template = Readonly<Record<string, null>>;

/** By statement: most are made once, when their module is loaded. */
const templates = new WeakMap<Statement, Template>();

/**
 * The answer to a statement as objects. The driver can make them too, but fills each name by name, and with more than a
 * dozen names the engine keeps such an object as a dictionary: to read it, and to copy it, takes ten times as long. A
 * copy of what JSON.parse made is laid out like a literal.
 */
export function toRows<Row extends object>(statement: Statement, answer: Answer | Answer[]): Row[] {
  // A text of several statements, of which none is asked for rows, has an answer to each.
  if (Array.isArray(answer) || answer.rows.length === 0) return [];
  const { fields, rows } = answer;
  const names = fields.map(({ name }) => name);
  const template = templateOf(statement, names);
  return rows.map((values) => {
    const row: Record<string, unknown> = { ...template };
    // trusted keys: columns that a statement of ours names.
    for (let i = 0; i < names.length; i += 1) row[names[i] ?? ""] = values[i];
    return row as Row;
  });
}

export function templateOf(statement: Statement, names: readonly string[]): Template {
  const known = templates.get(statement);
  if (known !== undefined) return known;
  const template: Template = JSON.parse(
    JSON.stringify(Object.fromEntries(names.map((name) => [name, null]))),
  );
  templates.set(statement, template);
  return template;
}
