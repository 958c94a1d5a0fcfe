import { type ReactNode, useState } from "react";
import { Ago } from "./time.tsx";

interface CellColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** `main` leads the row on a phone, `desk` is left out there. */
  readonly kind?: "main" | "desk" | "actions" | "num";
  /** Written before the value on a phone, where there is no head. */
  readonly label?: string;
  readonly width?: number | string;
  /** What rows are put in order by, where the reader may do so: largest first. */
  readonly sort?: (row: Row) => number | string;
}

/** How long ago, or in how long; `never` where there is no time. */
interface TimeColumn<Row> {
  readonly title: string;
  readonly at: (row: Row) => string | null | undefined;
  readonly never?: string;
}

/** What can be done with a row, at its end. */
interface ActionsColumn<Row> {
  readonly actions: (row: Row) => ReactNode;
}

export type Column<Row> = CellColumn<Row> | TimeColumn<Row> | ActionsColumn<Row>;

function toCells<Row>(column: Column<Row>): CellColumn<Row> {
  if ("cell" in column) return column;
  if ("actions" in column) {
    return {
      title: "Actions",
      kind: "actions",
      cell: (row) => <span className="row">{column.actions(row)}</span>,
    };
  }
  const { title, at, never = "–" } = column;
  return {
    title,
    kind: "num",
    label: title.toLowerCase(),
    cell: (row) => {
      const time = at(row);
      return time ? <Ago at={time} /> : <span className="muted">{never}</span>;
    },
  };
}

interface Sorting {
  readonly title: string;
  readonly isUp: boolean;
}

/** Largest first, then smallest first, then as the page has them. */
function nextSorting(current: Sorting | null, title: string): Sorting | null {
  if (current?.title !== title) return { title, isUp: false };
  return current.isUp ? null : { title, isUp: true };
}

function inOrder<Row>(
  rows: readonly Row[],
  columns: readonly CellColumn<Row>[],
  sorting: Sorting | null,
): readonly Row[] {
  const by = columns.find(({ title }) => title === sorting?.title)?.sort;
  if (by === undefined || sorting === null) return rows;
  const direction = sorting.isUp ? 1 : -1;
  return rows.toSorted((one, other) => direction * compare(by(one), by(other)));
}

function compare(one: number | string, other: number | string): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other));
}

const CLASSES = { main: "main-cell", desk: "desk", actions: "actions", num: "num" } as const;

export function Table<Row>({
  columns: written,
  rows,
  keyOf,
}: {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}) {
  const columns = written.map(toCells);
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const sorted = inOrder(rows, columns, sorting);
  return (
    <table className="table">
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.title}
              scope="col"
              {...(sorting?.title === column.title
                ? { "aria-sort": sorting.isUp ? ("ascending" as const) : ("descending" as const) }
                : {})}
              className={column.kind === "num" ? "num" : undefined}
              style={column.width === undefined ? undefined : { width: column.width }}
            >
              {column.kind === "actions" ? (
                <span className="hidden-label">{column.title}</span>
              ) : column.sort === undefined ? (
                column.title
              ) : (
                <button
                  type="button"
                  className="sort"
                  onClick={() => setSorting(nextSorting(sorting, column.title))}
                >
                  {column.title}
                  {sorting?.title === column.title ? (sorting.isUp ? " ↑" : " ↓") : ""}
                </button>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {sorted.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td
                key={column.title}
                className={column.kind === undefined ? undefined : CLASSES[column.kind]}
                data-label={column.label}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
