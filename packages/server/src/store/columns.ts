/** `t.max_retries as "maxRetries"`: columns under their names in the code, so that no row has to be converted. */
export function columns(table: string, names: string): string {
  return names
    .split(/,\s*/)
    .map(
      (name) => `${table}.${name} as "${name.replace(/_([a-z])/g, (_, next: string) => next.toUpperCase())}"`,
    )
    .join(", ");
}
