import type { AnswerOf } from "@bellhop/sdk";
import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { bellhop } from "../data/client.ts";
import { printExact } from "../data/exact-json.ts";
import { Empty, Loaded, Page, PageHead } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";

type Event = AnswerOf<"listAuditEvents">["events"][number];

const COLUMNS: readonly Column<Event>[] = [
  {
    title: "When",
    width: 110,
    cell: ({ at }) => (
      <span className="muted">
        <Ago at={at} />
      </span>
    ),
  },
  {
    title: "What",
    kind: "main",
    cell: ({ action, detail }) => (
      <span title={detail === null ? undefined : printExact(detail)}>
        <code>{action}</code>
      </span>
    ),
  },
  { title: "On", width: "24%", cell: ({ target }) => <span className="wrap">{target}</span> },
  {
    title: "Who",
    width: "18%",
    cell: ({ actor }) => (
      <span className="wrap">
        {actor.name} <span className="muted small">{actor.kind.replace("_", " ")}</span>
      </span>
    ),
  },
  {
    title: "Detail",
    kind: "desk",
    cell: ({ detail }) =>
      detail === null
        ? null
        : Object.entries(detail).map(([name, value]) => (
            <div key={name} className="small wrap">
              <span className="muted">{name}</span> {said(value)}
            </div>
          )),
  },
  { title: "From", kind: "desk", cell: ({ address }) => <span className="muted">{address ?? "–"}</span> },
];

/** Texts, and lists of them, without the marks of JSON. */
function said(value: unknown): string {
  if (Array.isArray(value)) return value.map(said).join(", ");
  return typeof value === "string" ? value : printExact(value, 0);
}

/** Who changed what, newest first. */
export function Audit() {
  const pages = useInfiniteQuery({
    queryKey: ["audit"],
    queryFn: ({ pageParam, signal }) =>
      bellhop.audit.page({ limit: 50, ...(pageParam === null ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
  });
  return (
    <Page title="Audit">
      <PageHead title="Audit" />
      <section className="panel">
        <Loaded query={pages} rows={10}>
          {({ pages: known }) => {
            const events = known.flatMap((page) => page.events);
            if (events.length === 0)
              return <Empty title="No changes yet">Changes are listed here with their author.</Empty>;
            return <Table rows={events} keyOf={({ id }) => id} columns={COLUMNS} />;
          }}
        </Loaded>
      </section>
      {pages.hasNextPage ? (
        <Button
          style={{ alignSelf: "center" }}
          loading={pages.isFetchingNextPage}
          onClick={() => pages.fetchNextPage()}
        >
          Older
        </Button>
      ) : null}
    </Page>
  );
}
