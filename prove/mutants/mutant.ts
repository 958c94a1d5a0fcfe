/** A small change of a source file, made by an operator at one place. */
export interface Mutant {
  /** Stable: the file, the statement or function, the operator, and which of its changes there. */
  readonly name: string;
  /** Below packages/server/src. */
  readonly file: string;
  readonly operator: string;
  /** In the source: what is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** In the source: what runs if and only if the change can show. */
  readonly probe: number;
  /** For SQL: the text around the change, which is in each statement that was changed. Null for TypeScript. */
  readonly sql: string | null;
}

/** What an operator makes. The catalogue gives it its name. */
export type Change = Omit<Mutant, "name" | "file"> & {
  /** The statement or the function. */
  readonly place: string;
};

export function mutate(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

/** The change in one line. */
export function describeChange(source: string, { start, end, replacement }: Mutant): string {
  const inOneLine = (text: string) => {
    const line = text.replace(/\s+/g, " ").trim();
    return line.length > 100 ? `${line.slice(0, 99)}…` : line;
  };
  return `${inOneLine(source.slice(start, end)) || "nothing"} → ${inOneLine(replacement) || "nothing"}`;
}

export function lineOf(source: string, offset: number): number {
  return source.slice(0, offset).split("\n").length;
}
