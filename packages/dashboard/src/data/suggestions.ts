import type { TaskSummary } from "@bellhop/sdk";
import { splitUrl, urlOf } from "./task.ts";
import { FILTERS, type FilterName } from "./task-search.ts";

/** A filter that finds tasks. */
export interface Suggestion {
  readonly name: FilterName;
  readonly value: string;
}

/** The fields of a task that a filter can name. */
type Searched = Parameters<typeof urlOf>[0] & Pick<TaskSummary, "tags" | "metadata" | "result">;

export function suggestionsOf(tasks: readonly Searched[]): readonly Suggestion[] {
  const counts = new Map<string, Suggestion & { count: number }>();
  const add = (name: FilterName, value: string) => {
    const key = `${name}:${value}`;
    const known = counts.get(key) ?? { name, value, count: 0 };
    counts.set(key, { ...known, count: known.count + 1 });
  };
  for (const task of tasks) {
    for (const tag of task.tags ?? []) add("tag", tag);
    for (const [key, value] of Object.entries(task.metadata ?? {})) add("metadata", `${key}=${value}`);
    add("host", splitUrl(urlOf(task))[0].replace(/:\d+$/, ""));
    if (task.result !== undefined && task.result.statusCode >= 300)
      add("response_code", String(task.result.statusCode));
  }
  return [...counts.values()]
    .toSorted((one, other) => other.count - one.count)
    .map(({ name, value }) => ({ name, value }));
}

/** Those that have the text in them; those that begin with it first. */
export function matching(
  suggestions: readonly Suggestion[],
  text: string,
  most: number,
): readonly Suggestion[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const rank = ({ value }: Suggestion) => (value.toLowerCase().startsWith(wanted) ? 0 : 1);
  return suggestions
    .filter(({ value }) => value.toLowerCase().includes(wanted))
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, most);
}

/** As it is typed into the search. */
export function typedText({ name, value }: Suggestion): string {
  return `${FILTERS[name]}:${value}`;
}
