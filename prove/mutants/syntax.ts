import { parseAst } from "rolldown/parseAst";

/** A node of the syntax tree (ESTree with TypeScript's types). */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export function parse(source: string): Node {
  return parseAst(source, { lang: "ts" }, "source.ts") as unknown as Node;
}

/** What holds an expression beside a type. */
const WITH_EXPRESSION = ["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"];

/** Calls `visit` for each node that runs, with those around it, the outermost first. Types and imports do not run. */
export function walk(root: Node, visit: (node: Node, around: readonly Node[]) => void): void {
  const around: Node[] = [];
  function enter(node: Node): void {
    if (node.type === "ImportDeclaration") return;
    if (node.type.startsWith("TS") && !WITH_EXPRESSION.includes(node.type)) return;
    visit(node, around);
    around.push(node);
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) enter(child);
    }
    around.pop();
  }
  enter(root);
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

export function childOf(node: Node, key: string): Node | null {
  const value = node[key];
  return isNode(value) ? value : null;
}

export function childrenOf(node: Node | null, key: string): readonly Node[] {
  const value = node?.[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The names of the functions around a node, or of the constant at the top that it belongs to. */
export function placeOf(around: readonly Node[]): string {
  const names = around.flatMap((node, index) => {
    const isFunction = /Function/.test(childOf(node, "init")?.type ?? childOf(node, "value")?.type ?? "");
    const isTop = around[index - 1]?.type === "VariableDeclaration" && index <= 3;
    if (/^(Function|Class)Declaration$/.test(node.type)) return [nameOf(childOf(node, "id"))];
    if (node.type === "VariableDeclarator" && (isFunction || isTop)) return [nameOf(childOf(node, "id"))];
    if (/^(Property|MethodDefinition|PropertyDefinition)$/.test(node.type) && isFunction)
      return [nameOf(childOf(node, "key"))];
    return [];
  });
  return names.filter((name) => name !== "").join(".") || "module";
}

function nameOf(node: Node | null): string {
  return String(node?.["name"] ?? node?.["value"] ?? "");
}

/** The name of the statement that a text is of, if it is an argument of `statement`. */
export function statementOf(node: Node, around: readonly Node[]): string | null {
  const call = around.at(-1);
  const [name, text] = childrenOf(call ?? null, "arguments");
  if (call?.type !== "CallExpression" || text !== node || name?.type !== "Literal") return null;
  return nameOf(childOf(call, "callee")) === "statement" ? nameOf(name) : null;
}
