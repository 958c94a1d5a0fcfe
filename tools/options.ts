import { parseArgs } from "node:util";

/** The options of a command line, by their kind. */
type Kinds = Readonly<Record<string, "text" | "flag">>;
type NamesOf<Given extends Kinds, Kind> = {
  [Name in keyof Given & string]: Given[Name] extends Kind ? Name : never;
}[keyof Given & string];

interface NumberRange {
  readonly initial: number;
  readonly max: number;
  /** Integers from 1. Otherwise every number above 0. */
  readonly isWhole?: boolean;
}

export interface Options<Given extends Kinds> {
  text(name: NamesOf<Given, "text">): string | null;
  flag(name: NamesOf<Given, "flag">): boolean;
  number(name: NamesOf<Given, "text">, range: NumberRange): number;
  /** Separated by commas; null if not given. */
  names(name: NamesOf<Given, "text">, known: readonly string[]): string[] | null;
}

/** Each method throws an error that names the wrong option. An empty error message means `--help`. */
export function readOptions<const Given extends Kinds>(args: string[], kinds: Given): Options<Given> {
  const types = Object.entries(kinds).map(
    ([name, kind]) => [name, { type: kind === "text" ? "string" : "boolean" }] as const,
  );
  const { values } = parseArgs({
    args,
    options: { ...Object.fromEntries(types), help: { type: "boolean" } },
  }) as { values: Readonly<Record<string, string | boolean | undefined>> };
  if (values["help"]) throw new Error("");
  const text = (name: string) => (values[name] as string | undefined) ?? null;
  return {
    text,
    flag: (name) => values[name] === true,
    number(name, { initial, max, isWhole = false }) {
      const given = text(name);
      const value = given === null ? initial : Number(given);
      const isRight = given === null || (value > 0 && value <= max && (!isWhole || Number.isInteger(value)));
      if (!isRight)
        throw new Error(
          `--${name} must be ${isWhole ? "an integer from 1" : "a number above 0 and up"} to ${max}`,
        );
      return value;
    },
    names(name, known) {
      const list = text(name)?.split(",") ?? null;
      const unknown = list?.find((each) => !known.includes(each));
      if (unknown !== undefined) throw new Error(`--${name}: "${unknown}" is none of ${known.join(", ")}`);
      return list;
    },
  };
}

/** For a run that was given no seed. */
export function randomSeed(): number {
  return Math.floor(Math.random() * 1e9) + 1;
}

/** What `read` makes of the command line. Ends the process with the usage if an option is wrong, or for `--help`. */
export function readOrExit<Result>(usage: string, read: (args: string[]) => Result): Result {
  try {
    return read(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}
