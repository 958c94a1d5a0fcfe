/** HTML text. Only `html` creates it: a template escapes every value that is not one of these. */
export class Html {
  readonly #text: string;

  constructor(parts: readonly string[], values: readonly HtmlValue[]) {
    this.#text = parts.reduce((text, part, index) => text + render(values[index - 1]) + part);
  }

  toString(): string {
    return this.#text;
  }
}

/** Null and undefined become empty. */
export type HtmlValue = string | number | Html | readonly Html[] | null | undefined;

/** A template whose values cannot become markup, also within quoted attributes: html`<p title="${name}">${name}</p>`. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts, values);
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Html) return value.toString();
  return typeof value === "object" ? value.join("") : escapeHtml(String(value));
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
