import { childOf, childrenOf, isNode, type Node } from "./syntax.ts";

/** A change of TypeScript. `probe` is what runs if and only if the change can show. */
export interface TsChange {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly probe: number;
}

const SWAPS: ReadonlyMap<string, readonly [operator: string, other: string]> = new Map([
  ["<", ["boundary", "<="]],
  ["<=", ["boundary", "<"]],
  [">", ["boundary", ">="]],
  [">=", ["boundary", ">"]],
  ["===", ["equality", "!=="]],
  ["!==", ["equality", "==="]],
  ["&&", ["and-or", "||"]],
  ["||", ["and-or", "&&"]],
  ["+", ["plus-minus", "-"]],
  ["-", ["plus-minus", "+"]],
  ["+=", ["plus-minus", "-="]],
  ["-=", ["plus-minus", "+="]],
  ["*", ["times-divided", "/"]],
  ["/", ["times-divided", "*"]],
]);
const METHODS: ReadonlyMap<string, readonly [operator: string, other: string]> = new Map([
  ["some", ["some-every", "every"]],
  ["every", ["some-every", "some"]],
  ["min", ["min-max", "max"]],
  ["max", ["min-max", "min"]],
]);
/** Calls that give back what they were called on, in less or in another order. */
const DROPPED_METHODS = ["filter", "sort", "toSorted", "toReversed", "reverse"];
/** Larger numbers are limits and times: one more of them is no bug that a test should see. */
const LARGEST = 100;
/** What is written into a log is no promise. */
const LOG = /(^|\.)log(ger)?\b/;
const LEAVES = ["ReturnStatement", "ThrowStatement", "ContinueStatement", "BreakStatement"];

/** All changes of one node, each by itself. Those of the nodes in it are their own. */
export function changesOfNode(node: Node, around: readonly Node[], source: string): TsChange[] {
  return [conditions, signs, values, calls, blocks, fallbacks].flatMap((operator) =>
    operator(node, around, source),
  );
}

function conditions(node: Node, _around: readonly Node[], source: string): TsChange[] {
  const test = childOf(node, "test");
  if (test === null || node.type === "ForStatement" || node.type === "SwitchCase") return [];
  const negated = put("negate", test, `!(${source.slice(test.start, test.end)})`);
  const inner = childOf(node, "consequent");
  const only = inner?.type === "BlockStatement" ? childrenOf(inner, "body")[0] : inner;
  const isGuard = node.type === "IfStatement" && childOf(node, "alternate") === null;
  return isGuard && only !== undefined && LEAVES.includes(only?.type ?? "")
    ? [negated, put("drop-guard", node, ";")]
    : [negated];
}

function signs(node: Node, _around: readonly Node[], source: string): TsChange[] {
  const [left, right] = [childOf(node, "left"), childOf(node, "right")];
  const [operator, other] = SWAPS.get(String(node["operator"])) ?? [];
  if (left === null || right === null || operator === undefined || other === undefined) return [];
  if (operator === "plus-minus" && [left, right].some(isText)) return [];
  const at = signAt(source, left.end, String(node["operator"]));
  return [{ operator, ...at, replacement: other, probe: left.start }];
}

/** Between the two sides stand only brackets, space and comments beside it. */
function signAt(source: string, from: number, sign: string): { start: number; end: number } {
  const start = source.indexOf(sign, from);
  return { start, end: start + sign.length };
}

function isText(node: Node): boolean {
  if (node.type === "TemplateLiteral" || typeof node["value"] === "string") return true;
  return node.type === "BinaryExpression" && [childOf(node, "left"), childOf(node, "right")].some(isAnyText);
}

function isAnyText(node: Node | null): boolean {
  return node !== null && isText(node);
}

function values(node: Node, around: readonly Node[], source: string): TsChange[] {
  if (node.type !== "Literal" || isKey(node, around)) return [];
  const value = node["value"];
  if (typeof value === "boolean") return [put("true-false", node, String(!value))];
  if (typeof value !== "number" || !Number.isInteger(value) || value > LARGEST) return [];
  // `1.0` and `0xff` stay what they are.
  return /^\d+$/.test(source.slice(node.start, node.end)) ? [put("off-by-one", node, String(value + 1))] : [];
}

function isKey(node: Node, around: readonly Node[]): boolean {
  const parent = around.at(-1);
  return parent !== undefined && parent.type === "Property" && parent["key"] === node;
}

function calls(node: Node, _around: readonly Node[], source: string): TsChange[] {
  if (node.type === "ExpressionStatement") return statements(node, source);
  const callee = childOf(node, "callee");
  const property = callee === null ? null : childOf(callee, "property");
  if (node.type !== "CallExpression" || callee?.type !== "MemberExpression" || property === null) return [];
  const name = String(property["name"]);
  const [operator, other] = METHODS.get(name) ?? [];
  const object = childOf(callee, "object");
  if (operator !== undefined && other !== undefined)
    return [{ ...put(operator, property, other), probe: node.start }];
  if (!DROPPED_METHODS.includes(name) || object === null) return [];
  return [{ ...put(`drop-${name}`, { start: object.end, end: node.end }, ""), probe: node.start }];
}

function statements(node: Node, source: string): TsChange[] {
  const expression = childOf(node, "expression");
  const isAwait = expression?.type === "AwaitExpression";
  const call = isAwait ? childOf(expression, "argument") : expression;
  const callee = call?.type === "CallExpression" ? childOf(call, "callee") : null;
  if (call === null || callee === null || callee.type === "Super") return [];
  if (LOG.test(source.slice(callee.start, callee.end))) return [];
  const dropped = put("drop-call", node, ";");
  if (!isAwait) return [dropped];
  return [dropped, put("drop-await", { start: node.start, end: call.start }, "void ")];
}

function blocks(node: Node, around: readonly Node[]): TsChange[] {
  if (node.type !== "BlockStatement") return [];
  const body = childrenOf(node, "body");
  const first = body[0];
  if (first === undefined) return [];
  const parent = around.at(-1);
  const emptied = { ...put("empty-block", node, "{}"), probe: first.start };
  const middle = body[Math.ceil(body.length / 2)];
  const isFunction = parent !== undefined && /Function/.test(parent.type);
  // The later declarations would be used by what is left of the function: functions are hoisted.
  if (!isFunction || middle === undefined || body.length < 3 || isFactory(body)) return [emptied];
  return [
    emptied,
    {
      operator: "return-early",
      start: middle.start,
      end: middle.start,
      replacement: "return; ",
      probe: middle.start,
    },
  ];
}

/** Its end gives out what it has made: a return before it is found by every test. */
function isFactory(body: readonly Node[]): boolean {
  const last = body.at(-1);
  return last?.type === "ReturnStatement" && isNode(last["argument"]);
}

function fallbacks(node: Node, _around: readonly Node[], source: string): TsChange[] {
  const [left, right] = [childOf(node, "left"), childOf(node, "right")];
  if (node["operator"] !== "??" || left === null || right === null) return [];
  const one = { start: node.start, end: node.end };
  return [
    put("drop-fallback", one, `(${source.slice(left.start, left.end)})`),
    put("only-fallback", one, `(${source.slice(right.start, right.end)})`),
  ];
}

function put(
  operator: string,
  { start, end }: { start: number; end: number },
  replacement: string,
): TsChange {
  return { operator, start, end, replacement, probe: start };
}
