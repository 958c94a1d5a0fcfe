import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import { Loaded, Page, PageHead } from "./page.tsx";
import { type Column, Table } from "./table.tsx";

/** A page that is one list: its rows, how to add one, and what to do while it is empty. */
export function ListPage<Row>({
  title,
  query,
  columns,
  keyOf,
  empty,
  onNew,
  newTitle,
  children,
}: {
  readonly title: string;
  readonly query: { readonly data: readonly Row[] | undefined; readonly error: unknown };
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly empty: ReactNode;
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
        <Loaded query={query}>
          {(rows) => (rows.length === 0 ? empty : <Table rows={rows} keyOf={keyOf} columns={columns} />)}
        </Loaded>
      </section>
      {children}
    </Page>
  );
}
