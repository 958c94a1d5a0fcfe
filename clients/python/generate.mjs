// What the Python client knows of the API, written from openapi.json: types of requests and answers, and where each operation is
// found. Run by `npm run generate`.
const HEAD = "# Written from openapi.json by `npm run generate`.\n";
const KEYWORDS = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);
const SIMPLE = { string: "str", integer: "int", number: "float", boolean: "bool", null: "None" };

/** The generated files of the package, by name. */
export function generatePython(document) {
  return { "types.py": typesModule(document.components.schemas), "routes.py": routesModule(document) };
}

function typesModule(schemas) {
  const blocks = [];
  for (const [name, schema] of Object.entries(schemas)) declare(name, schema, blocks);
  return `${HEAD}"""Requests and answers of the API, with the names that they have on the wire."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

${blocks.join("\n\n")}
`;
}

/** A class for an object with fields, an alias for anything else. */
function declare(name, schema, blocks) {
  if (!schema.properties) {
    blocks.push(`${name}: TypeAlias = ${JSON.stringify(typeOf(schema, name, blocks))}`);
    return;
  }
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([field, inner]) => {
    const type = typeOf(inner, name + pascal(field), blocks);
    return [field, required.has(field) ? type : `NotRequired[${type}]`];
  });
  if (fields.some(([field]) => KEYWORDS.has(field) || !/^[A-Za-z_]\w*$/.test(field))) {
    const entries = fields.map(([field, type]) => `    ${JSON.stringify(field)}: ${JSON.stringify(type)},`);
    blocks.push(`${name} = TypedDict("${name}", {\n${entries.join("\n")}\n})`);
    return;
  }
  const lines = fields.map(([field, type]) => `    ${field}: ${type}`);
  blocks.push(`class ${name}(TypedDict):\n${lines.length === 0 ? "    pass" : lines.join("\n")}`);
}

function typeOf(schema, name, blocks) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.enum) return `Literal[${schema.enum.map((value) => pythonOf(value)).join(", ")}]`;
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return unionOf(variants.map((one, index) => typeOf(one, `${name}${index + 1}`, blocks)));
  if (Array.isArray(schema.type))
    return unionOf(schema.type.map((type) => typeOf({ ...schema, type }, name, blocks)));
  if (schema.type === "array") return `list[${typeOf(schema.items ?? {}, `${name}Item`, blocks)}]`;
  if (schema.properties) {
    declare(name, schema, blocks);
    return name;
  }
  if (schema.type === "object") {
    const values = schema.additionalProperties;
    return `dict[str, ${typeof values === "object" ? typeOf(values, `${name}Value`, blocks) : "Any"}]`;
  }
  return SIMPLE[schema.type] ?? "Any";
}

function unionOf(types) {
  const unique = [...new Set(types)];
  return unique.includes("Any") ? "Any" : unique.join(" | ");
}

function pythonOf(value) {
  if (value === null) return "None";
  return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
}

function pascal(field) {
  return field.replace(/(^|[_-])(\w)/g, (_, _dash, letter) => letter.toUpperCase());
}

function routesModule({ paths }) {
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) => `    "${operationId}": ("${method.toUpperCase()}", "${path}"),`,
    ),
  );
  return `${HEAD}"""Where each operation of the API is found."""

from __future__ import annotations

ROUTES: dict[str, tuple[str, str]] = {
${lines.join("\n")}
}
`;
}
