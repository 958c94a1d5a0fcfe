import { forbiddenHeader } from "../domain/header.ts";

type HeaderLayer = Readonly<Record<string, string>>;

/**
 * Merges header layers: a later layer overrides an earlier one, case-insensitively, and each name is sent once. The
 * result is flat (name, value, name, value …), because an object would lose a header named `__proto__`.
 */
export function mergeHeaders(...layers: readonly HeaderLayer[]): string[] {
  const merged: string[] = [];
  // A list, because there are few: a set would cost more than all the rest.
  const taken: string[] = [];
  for (let index = layers.length - 1; index >= 0; index -= 1) {
    const layer = layers[index] ?? {};
    for (const name of Object.keys(layer)) {
      const value = layer[name];
      const key = name.toLowerCase();
      if (value === undefined || taken.includes(key)) continue;
      taken.push(key);
      merged.push(name, value);
    }
  }
  return merged;
}

/**
 * Creation refuses these headers. Checked again at the call: a Host header would choose the TLS name and the virtual
 * host, bypassing the guard.
 */
export function findForbiddenHeader(headers: HeaderLayer): string | null {
  for (const name of Object.keys(headers)) {
    if (forbiddenHeader(name)) return name.toLowerCase();
  }
  return null;
}
