import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import { Loaded, Page, PageHead } from "./page.tsx";
import { type Column, Table } from "./table.tsx";

interface ListProps<Row> {
  readonly query: { readonly data: readonly Row[] | undefined; readonly error: unknown };
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly empty: ReactNode;
  /** About how many, while they are not known. */
  readonly rows?: number;
}

/** The rows of a query, or what stands there while it has none. A text is put where a row would be. */
export function List<Row>({ query, columns, keyOf, empty, rows = 5 }: ListProps<Row>) {
  const nothing = typeof empty === "string" ? <p className="panel-body muted">{empty}</p> : empty;
  return (
    <Loaded query={query} rows={rows}>
      {(known) => (known.length === 0 ? nothing : <Table rows={known} keyOf={keyOf} columns={columns} />)}
    </Loaded>
  );
}

/** A page that is one list: its rows, how to add one, and what to do while it is empty. */
export function ListPage<Row>({
  title,
  onNew,
  newTitle,
  children,
  ...list
}: ListProps<Row> & {
  readonly title: string;
  /** Null for a reader who may not. */
  readonly onNew: (() => void) | null;
  readonly newTitle: string;
  readonly children?: ReactNode;
}) {
  return (
    <Page title={title}>
      <PageHead title={title}>
        {onNew === null ? null : (
          <Button variant="filled" leftSection={<Icon name="plus" size={14} />} onClick={onNew}>
            {newTitle}
          </Button>
        )}
      </PageHead>
      <section className="panel">
        <List {...list} />
      </section>
      {children}
    </Page>
  );
}
