import type { ReactNode } from "react";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** `main` leads the row on a phone, `desk` is left out there, `actions` stand at the end. */
  readonly kind?: "main" | "desk" | "actions" | "num";
  /** Written before the value on a phone, where there is no head. */
  readonly label?: string;
  readonly width?: number | string;
}

const CLASSES = { main: "main-cell", desk: "desk", actions: "actions", num: "num" } as const;

export function Table<Row>({
  columns,
  rows,
  keyOf,
}: {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}) {
  return (
    <table className="table">
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.title}
              scope="col"
              className={column.kind === "num" ? "num" : undefined}
              style={column.width === undefined ? undefined : { width: column.width }}
            >
              {column.kind === "actions" ? (
                <span className="hidden-label">{column.title}</span>
              ) : (
                column.title
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
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
