import { ANY, PathTree } from "./path-tree.ts";
import { type JsonBounds, NO_BOUNDS, type ScanListener, scanJson } from "./scan.ts";

/**
 * A large request body without its payloads: objects and arrays in `payload` and `body` are passed on as text, so they
 * are checked but never built. A number replaces each, by which `ExtractedPayloads` finds the text.
 */
export type Outlined =
  | {
      readonly kind: "json";
      /** Null if nothing was extracted: the body is its own outline. */
      readonly outline: string | null;
      /** Start and end of each extracted part in the body. */
      readonly places: Int32Array;
    }
  | { readonly kind: "not_json" }
  | { readonly kind: "too_much"; readonly bound: keyof JsonBounds }
  /** Even the outline has too many fields. */
  | { readonly kind: "too_many_fields" };

/** Fields and list items of a request outside of its payloads. A batch of 1,000 tasks has 50 for each. */
export const MOST_OUTLINE_FIELDS = 50_000;

const PAYLOAD_FIELDS = ["payload", "body"];

/** Paths of a task and of the tasks of a batch. A schedule keeps the text of its task and needs all of it. */
const TREE = new PathTree();
for (const name of PAYLOAD_FIELDS) {
  TREE.add([name]);
  TREE.add(["tasks", ANY, name]);
}

export function outlineJson(text: string, bounds: JsonBounds): Outlined {
  const builder = new OutlineBuilder(text);
  const scanned = scanJson(text, bounds, TREE, builder);
  if (scanned.kind !== "json") return scanned;
  const { outline, places } = builder.finish();
  const counted = outline === null ? scanned : scanJson(outline, NO_BOUNDS, null, null);
  if (counted.kind !== "json") return { kind: "not_json" };
  if (counted.keys + counted.elements > MOST_OUTLINE_FIELDS) return { kind: "too_many_fields" };
  return { kind: "json", outline, places };
}

class OutlineBuilder implements ScanListener {
  readonly #text: string;
  readonly #parts: string[] = [];
  readonly #places: number[] = [];
  #end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  entered(): void {}

  found(_node: number, start: number, end: number): void {
    const first = this.#text.charAt(start);
    // Strings are cheap to build, and other values are short.
    if (first !== "{" && first !== "[") return;
    const number = this.#places.length / 2;
    this.#parts.push(this.#text.slice(this.#end, start), first === "{" ? `{"":${number}}` : `[${number}]`);
    this.#places.push(start, end);
    this.#end = end;
  }

  finish(): { readonly outline: string | null; readonly places: Int32Array } {
    const places = Int32Array.from(this.#places);
    if (places.length === 0) return { outline: null, places };
    return { outline: this.#parts.join("") + this.#text.slice(this.#end), places };
  }
}

const PLACEHOLDER = /^(?:\{"":(\d+)\}|\[(\d+)\])$/;

/** The extracted texts of an outline. */
export class ExtractedPayloads {
  readonly #text: string;
  readonly #places: Int32Array;

  constructor(text: string, places: Int32Array) {
    this.#text = text;
    this.#places = places;
  }

  /**
   * The original text for `source` in the outline: the value of `payload` or `body`. A caller cannot forge a
   * placeholder: every object and array in these places was replaced.
   */
  textOf(source: string): string {
    const [, inObject, inArray] = PLACEHOLDER.exec(source) ?? [];
    const number = inObject ?? inArray;
    if (number === undefined) return source;
    return this.#text.slice(this.#places[2 * Number(number)], this.#places[2 * Number(number) + 1]);
  }
}
