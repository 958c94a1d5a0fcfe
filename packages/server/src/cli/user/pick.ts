/**
 * What lies at a path such as `task.id`, a line for each value: text as it is, anything else as JSON. A number is a place in a
 * list; a name asks every item of it.
 */
export function pick(value: unknown, path: string): string {
  const found = path
    .split(".")
    .reduce<readonly unknown[]>((values, name) => values.flatMap((one) => stepInto(one, name)), [value])
    .flatMap((one) => (Array.isArray(one) ? one : [one]));
  if (found.length === 0 && !isEmptyList(value))
    throw new Error(`There is nothing at "${path}" in the answer`);
  return found.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join("");
}

function stepInto(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) {
    if (/^\d+$/.test(name)) return value.slice(Number(name), Number(name) + 1);
    return value.flatMap((item) => stepInto(item, name));
  }
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return [];
  return [(value as Record<string, unknown>)[name]];
}

/** A list without items has nothing to show, which is no mistake. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
