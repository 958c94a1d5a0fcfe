import { readFile } from "node:fs/promises";
import { InvalidArgumentError } from "commander";

export function readInteger(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("It must be JSON.");
  }
}

/** For an option that may be given several times. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** `Name: value`, several times. */
export function readHeader(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, name, value] = /^([^\s:]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('It must be "Name: value".');
  return { ...before, [name]: value ?? "" };
}

/** Of a file, or of what is piped in where it is called `-`. */
export async function readTaskFile(name: string): Promise<object> {
  const text = name === "-" ? await readStdin() : await readFile(name, "utf8");
  try {
    const task: unknown = JSON.parse(text);
    if (typeof task === "object" && task !== null && !Array.isArray(task)) return task;
  } catch {}
  throw new Error(`${name === "-" ? "The input" : name} is not a JSON object`);
}

/** A JSON array, or a value a line. */
export async function readTasksFile(name: string): Promise<object[]> {
  const text = name === "-" ? await readStdin() : await readFile(name, "utf8");
  const tasks = parseAll(text);
  if (tasks?.every((task) => typeof task === "object" && task !== null && !Array.isArray(task)))
    return tasks as object[];
  throw new Error(
    `${name === "-" ? "The input" : name} is neither a JSON array of tasks nor one JSON object on each line`,
  );
}

function parseAll(text: string): unknown[] | null {
  try {
    if (text.trimStart().startsWith("[")) return JSON.parse(text);
    return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line)]));
  } catch {
    return null;
  }
}

export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
