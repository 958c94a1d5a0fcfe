import { type Static, Type } from "typebox";
import { invalid, mustBe, notBoth } from "../../domain/complaint.ts";
import { parseCursor } from "../../service/tasks/task-cursor.ts";
import type { TaskQuery } from "../../service/tasks/task-list.ts";
import { oneOf } from "../schemas/field.ts";
import { readSandbox, sandbox } from "../schemas/sandbox.ts";
import { FILTER_FIELDS, FILTER_PATTERNS, readFilter } from "./task-filter-query.ts";

/** Tasks that are skipped are read all the same, of every queue and state that is asked for. */
const MOST_OFFSET = 10_000;

export const TaskListQuery = Type.Object(
  {
    ...FILTER_FIELDS,
    sandbox,
    order: Type.Optional(
      oneOf(["desc", "asc"], { default: "desc", description: "`asc`: the oldest first." }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 20, description: "Tasks on a page." }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: `Tasks to skip, at most ${MOST_OFFSET}. For deep lists use \`cursor\`, which costs the same on every page.`,
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        description:
          "`nextCursor` of the page before, with the same filters and order; instead of `offset`, never both.",
      }),
    ),
  },
  { additionalProperties: false, ...FILTER_PATTERNS },
);

/** With these the list is read along one index range for each state of the queue, and its total comes from the tallies. */
const OF_ONE_QUEUE = new Set(["queue", "status", "sandbox", "order", "limit", "cursor"]);

/** A page of one queue, which costs the same however many tasks there are. */
export function readsOneQueue({ query }: { readonly query: unknown }): boolean {
  if (typeof query !== "object" || query === null || !("queue" in query)) return false;
  return Object.keys(query).every((name) => OF_ONE_QUEUE.has(name));
}

export function readListQuery({ sandbox: said, ...query }: Static<typeof TaskListQuery>): TaskQuery {
  const { order = "desc", limit = 20, offset = 0 } = query;
  if (offset > MOST_OFFSET)
    throw invalid([mustBe("offset", `at most ${MOST_OFFSET}; to go further, use cursor`)]);
  const filter = readFilter(query, readSandbox(said));
  if (query.cursor === undefined) return { ...filter, order, limit, offset, cursor: null };
  if (query.offset !== undefined) throw invalid([notBoth("cursor", "offset")]);
  const cursor = parseCursor(query.cursor);
  if (cursor === null) throw invalid([mustBe("cursor", "the nextCursor of a page")]);
  return { ...filter, order, limit, offset, cursor };
}
