import type { Bellhop, RequestOptions } from "../sdk.ts";

type Property = { readonly type: string; readonly description: string; readonly [rule: string]: unknown };

/** What an agent can do, as the protocol shows it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** What the key must be allowed, as in docs/api.md; null: every key may. */
  readonly scope: string | null;
  /** `destructive`: what it ends or replaces cannot be had back. */
  readonly changes: null | "additive" | "destructive";
  /** JSON Schema of what it takes, by name. The protocol's SDK has checked it when `run` is called. */
  readonly properties: Readonly<Record<string, Property | object>>;
  readonly required: readonly string[];
  run(client: Bellhop, input: Readonly<Record<string, unknown>>, options: RequestOptions): Promise<unknown>;
}

export function text(description: string, rules: object = {}): Property {
  return { type: "string", description, ...rules };
}

export function integer(description: string, minimum: number, maximum?: number): Property {
  return { type: "integer", description, minimum, ...(maximum !== undefined && { maximum }) };
}

/** An argument that the schema requires to be text. */
export function textOf(input: Readonly<Record<string, unknown>>, name: string): string {
  const value = input[name];
  if (typeof value !== "string") throw new TypeError(`${name} must be text`);
  return value;
}
