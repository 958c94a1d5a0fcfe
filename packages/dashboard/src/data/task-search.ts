import type { BulkAction, QueryOf } from "@bellhop/sdk";

/** The filters of the list under the names that the API has for them: the address of the page is a query of the API. */
export const FILTERS = {
  status: "state",
  queue: "queue",
  tag: "tag",
  host: "host",
  response_code: "code",
  failure_reason: "reason",
  error: "error",
  metadata: "metadata",
  provider: "provider",
  schedule: "schedule",
  id: "id",
  created_after: "after",
  created_before: "before",
  dismissed: "dismissed",
  sandbox: "sandbox",
} as const;

export type FilterName = keyof typeof FILTERS;
export type TaskSearch = { readonly [Name in FilterName]?: string | undefined };

export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

export function readTaskSearch(search: Record<string, unknown>): TaskSearch {
  const found = FILTER_NAMES.flatMap((name) => {
    const value = search[name];
    return typeof value === "string" && value !== "" ? [[name, value]] : [];
  });
  return Object.fromEntries(found);
}

export function queryOf(search: TaskSearch): QueryOf<"listTasks"> {
  // Addresses are written by hand too: a status that does not exist is refused by the server, in words.
  return camel(search) as QueryOf<"listTasks">;
}

export function filterOf(search: TaskSearch): BulkAction["filter"] {
  const { sandbox, ...others } = search;
  return { ...camel(others), ...(sandbox === "true" ? { sandbox: true } : {}) } as BulkAction["filter"];
}

function camel(search: TaskSearch): Record<string, string> {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]],
    ),
  );
}

/** The address of the tasks that a filter of the API finds. */
export function searchOf(filter: BulkAction["filter"]): TaskSearch {
  return readTaskSearch(
    Object.fromEntries(
      Object.entries(filter).map(([name, value]) => [
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value === undefined ? undefined : String(value),
      ]),
    ),
  );
}

const TASK_ID = /^(task_[0-9a-z]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const AGO = /^(\d+)(m|h|d)$/;
const MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * What was typed into the search: `queue:emails`, `code:5xx`, `after:2h`; an id; something with a dot is a host; several
 * words are looked for in errors; one word is a tag. Null where nothing was.
 */
export function readFilter(text: string, now: number): readonly [FilterName, string] | null {
  const typed = text.trim();
  if (typed === "") return null;
  const [, word = "", value = ""] = /^([a-z_]+):\s*(.+)$/i.exec(typed) ?? [];
  const name = FILTER_NAMES.find((known) => known === word || FILTERS[known] === word);
  if (name === "error") return [name, anywhere(value)];
  if (name !== undefined) return [name, timeOf(name, value, now)];
  if (TASK_ID.test(typed)) return ["id", typed];
  if (/\s/.test(typed)) return ["error", anywhere(typed)];
  return [/^[\w-]+(\.[\w-]+)+$|^localhost$/.test(typed) ? "host" : "tag", typed];
}

/** A pattern of the API: what has no `*` may stand anywhere in the text. */
function anywhere(text: string): string {
  return text.includes("*") ? text : `*${text}*`;
}

function timeOf(name: FilterName, value: string, now: number): string {
  if (name !== "created_after" && name !== "created_before") return value;
  const [, count, unit] = AGO.exec(value) ?? [];
  if (count === undefined || (unit !== "m" && unit !== "h" && unit !== "d")) return value;
  return new Date(now - Number(count) * MS[unit]).toISOString();
}
