// docs/schema.sql: what the migrations come to, read from the catalogue of a migrated database. Read by people; never run.

const TABLES = `
  select c.oid, c.relname as name, c.reloptions as options from pg_class c
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by c.relname`;

const COLUMNS = `
  select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as "isRequired",
         a.attidentity as identity, a.attgenerated as generated, pg_get_expr(d.adbin, d.adrelid) as expression
    from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped order by a.attnum`;

/** Those of single columns that must not be null are shown with the column. */
const CONSTRAINTS = `
  select conname as name, pg_get_constraintdef(oid) as text from pg_constraint
   where conrelid = $1 and contype <> 'n' order by contype = 'p' desc, contype, conname`;

const INDEXES = `
  select pg_get_indexdef(i.indexrelid) as text from pg_index i join pg_class c on c.oid = i.indexrelid
   where i.indrelid = $1 and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid and k.conrelid = $1)
   order by c.relname`;

const TRIGGERS = `
  select pg_get_triggerdef(oid) as text from pg_trigger where tgrelid = $1 and not tgisinternal order by tgname`;

const FUNCTIONS = `
  select pg_get_functiondef(p.oid) as text from pg_proc p
   where p.pronamespace = 'public'::regnamespace order by p.proname, p.oid`;

/** `rows(text, values)` asks the database. */
export async function schemaPage(rows, version) {
  const parts = [
    `-- The schema after migration ${version}, written by npm run generate. Nobody runs this file: the server migrates its\n` +
      "-- database by itself (packages/server/src/store/migrations).",
  ];
  for (const { text } of await rows(FUNCTIONS)) parts.push(`${text.trimEnd()};`);
  for (const table of await rows(TABLES)) {
    const lines = [
      ...(await rows(COLUMNS, [table.oid])).map(columnLine),
      ...(await rows(CONSTRAINTS, [table.oid])).map(({ name, text }) => `constraint ${name} ${text}`),
    ];
    const options = table.options === null ? "" : ` with (${table.options.join(", ")})`;
    parts.push(`create table ${table.name} (\n${lines.map((line) => `  ${line}`).join(",\n")}\n)${options};`);
    for (const of of [INDEXES, TRIGGERS])
      for (const { text } of await rows(of, [table.oid])) parts.push(`${text.replaceAll("public.", "")};`);
  }
  return `${parts.join("\n\n")}\n`;
}

function columnLine({ name, type, isRequired, identity, generated, expression }) {
  const words = [name, type];
  if (isRequired) words.push("not null");
  if (identity !== "") words.push(`generated ${identity === "a" ? "always" : "by default"} as identity`);
  if (generated !== "")
    words.push(`generated always as (${expression}) ${generated === "s" ? "stored" : "virtual"}`);
  else if (expression !== null) words.push(`default ${expression}`);
  return words.join(" ");
}
