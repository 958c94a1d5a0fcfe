/** `t.max_retries as "maxRetries"`: columns under the names that the code knows them by, so that no row need be renamed. */
export function columns(table: string, names: readonly string[]): string {
  return names.map((name) => `${table}.${name} as "${propertyOf(name)}"`).join(", ");
}

export function propertyOf(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
