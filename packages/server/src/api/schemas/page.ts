import { type Static, Type } from "typebox";
import { LARGEST_PAGE, type Page, type PageRequest } from "../../domain/page.ts";
import { textOrNull } from "./field.ts";

/** Of a list that is short for nearly every team: without `limit` it comes whole. */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LARGEST_PAGE,
        default: LARGEST_PAGE,
        description: "Entries on a page.",
      }),
    ),
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before." })),
  },
  { additionalProperties: false },
);
export type PageQuery = Static<typeof PageQuery>;

export const pagination = Type.Optional(
  Type.Object(
    {
      limit: Type.Integer(),
      hasMore: Type.Boolean(),
      nextCursor: textOrNull("`cursor` of the next page; null on the last."),
    },
    { description: "Absent if the list is complete and no page was requested." },
  ),
);

export function readPage({ limit = LARGEST_PAGE, cursor = "" }: PageQuery): PageRequest {
  return { limit, cursor: cursor === "" ? null : cursor };
}

/** Nothing of pages where there is one and none was asked for. */
export function showPage(
  { limit, hasMore, nextCursor }: Page<unknown>,
  asked: PageQuery,
): { pagination?: { limit: number; hasMore: boolean; nextCursor: string | null } } {
  const isWhole = !hasMore && asked.limit === undefined && asked.cursor === undefined;
  return isWhole ? {} : { pagination: { limit, hasMore, nextCursor } };
}
