/** `t.max_retries as "maxRetries"`: columns under the names that the code knows them by, so that no row need be renamed. */
export function columns(table: string, names: string): string {
  return names
    .split(/,\s*/)
    .map(
      (name) => `${table}.${name} as "${name.replace(/_([a-z])/g, (_, next: string) => next.toUpperCase())}"`,
    )
    .join(", ");
}
