import { type Static, Type } from "typebox";
import { openAnswerRoom } from "../../domain/answer-room.ts";
import { invalid, mustBe } from "../../domain/complaint.ts";
import { LARGEST_PAGE, type Page, type PageRequest } from "../../domain/page.ts";
import { isStorable } from "../../domain/storable-text.ts";
import { textOrNull } from "./field.ts";

/** Of a list that is short for nearly every team: without `limit` it comes whole. */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LARGEST_PAGE,
        default: LARGEST_PAGE,
        description: "Entries on a page; it has fewer if they would make more than 1 MiB.",
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
  if (!isStorable(cursor)) throw invalid([mustBe("cursor", "the nextCursor of a page")]);
  return { limit, cursor: cursor === "" ? null : cursor };
}

/** The page as it is shown: it ends earlier, with a cursor, if the answer has no room for all of it. */
export function fitPage<T, View>(page: Page<T>, viewOf: (item: T) => View): Page<View> & { items: View[] } {
  const room = openAnswerRoom();
  const items: View[] = [];
  for (const item of page.items) {
    const view = viewOf(item);
    if (!room.take(JSON.stringify(view)))
      return { ...page, items, hasMore: true, nextCursor: page.cursorBehind(items.length - 1) };
    items.push(view);
  }
  return { ...page, items };
}

/** Nothing of pages where there is one and none was asked for. */
export function showPage(
  { limit, hasMore, nextCursor }: Page<unknown>,
  asked: PageQuery,
): { pagination?: { limit: number; hasMore: boolean; nextCursor: string | null } } {
  const isWhole = !hasMore && asked.limit === undefined && asked.cursor === undefined;
  return isWhole ? {} : { pagination: { limit, hasMore, nextCursor } };
}
