// An object that is filled name by name (`found[name] = value`) loses the name `__proto__`: the assignment sets the prototype,
// or nothing. A filter loses a condition by it, a call a header. Names from outside are collected in a Map, which
// Object.fromEntries makes an object of: it defines each name.

/** An assignment by a name that says why no stranger chose the name: this mark, on its line or the one before. */
const REASON = "trusted keys:";

const WRITE = /([\w#]+)\[((?:[^[\]]|\[[^\]]*\])+)\]\s*(?:\?\?|\|\||[-+*])?=(?![=>])/g;
const LITERAL = /^(?:\d+|"[^"]*")$/;

const RECORD = String.raw`(?:readonly\s+)?(?:(?:Readonly|Partial|Writable)<)*`;
const ALIAS = new RegExp(
  String.raw`^(?:export )?type (\w+)(?:<[^=]*>)? = ${RECORD}(?:Record<|\{\s*(?:readonly )?\[)`,
  "gm",
);

/** The names of types that these source files declare as records: other files import them. */
export function recordAliases(texts) {
  return new Set(texts.flatMap((text) => [...text.matchAll(ALIAS)].map(([, name]) => name)));
}

/** Each place where a source file fills an object by names that it computes, as a line number. */
export function recordWrites(text, aliases = recordAliases([text])) {
  const lines = text.split("\n");
  const writes = [...text.matchAll(WRITE)].filter(
    ([, target, name]) => !LITERAL.test(name) && isRecordIn(text, target, aliases),
  );
  return [...writes, ...text.matchAll(/\bObject\.assign\(\s*\{/g)]
    .map(({ index }) => text.slice(0, index).split("\n").length)
    .filter((line) => !lines.slice(Math.max(0, line - 2), line).some((each) => each.includes(REASON)))
    .sort((one, other) => one - other);
}

/** Whether the file declares this name as a record, or with an object as its first value. Lists and maps are neither. */
function isRecordIn(text, name, aliases) {
  const alias = [...aliases].map((each) => `|${each}\\b`).join("");
  const type = String.raw`\??:\s*${RECORD}(?:Record<|\{|Writable<${alias})`;
  const value = String.raw`(?::[^=;]*)?\s=\s*\{`;
  return new RegExp(String.raw`(?<![\w#])${name}(?:${type}|${value})`).test(text);
}
