import type { AnswerOf } from "@bellhop/sdk";
import { Autocomplete, Button } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bellhop } from "../data/client.ts";
import { printExact } from "../data/exact-json.ts";
import { ExportMenu } from "../parts/export-menu.tsx";
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
  { title: "On", width: "24%", cell: (event) => <On event={event} /> },
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

/** What was changed, by its name, with a link where it has a page and is still there. */
function On({ event }: { readonly event: Event }) {
  const { action, target } = event;
  const [kind = ""] = action.split(".");
  const isGone = action.endsWith(".deleted");
  const name = nameOf(event);
  const text = (
    <span className="wrap" title={target}>
      {name}
    </span>
  );
  if (isGone) return text;
  if (kind === "schedule")
    return (
      <Link to="/schedules/$name" params={{ name }} className="link">
        {text}
      </Link>
    );
  if (kind === "queue")
    return (
      <Link to="/queues/$name" params={{ name: target }} className="link">
        {text}
      </Link>
    );
  if (kind === "task")
    return (
      <Link to="/tasks/$id" params={{ id: target }} className="link">
        {text}
      </Link>
    );
  const place = PLACES[kind];
  return place === undefined ? (
    text
  ) : (
    <Link to={place} className="link">
      {text}
    </Link>
  );
}

const PLACES: Readonly<Record<string, string>> = {
  flow: "/flows",
  token: "/vault",
  vault_token: "/vault",
  api_key: "/keys",
  webhook: "/subscriptions",
  alert: "/alerts",
  member: "/team",
  invitation: "/team",
  oauth_application: "/applications",
};

/** The name of what was changed, as far as the event knows it: its own, a webhook's host, a member's address. */
function nameOf({ target, detail }: Event): string {
  const named = [detail?.name, detail?.host, detail?.email].find((value) => typeof value === "string");
  return typeof named === "string" ? named : target;
}

/** Values without the marks of JSON. */
function said(value: unknown): string {
  if (Array.isArray(value)) return value.map(said).join(", ");
  if (typeof value === "object" && value !== null)
    return Object.entries(value)
      .map(([name, each]) => `${name} ${said(each)}`)
      .join(", ");
  return typeof value === "string" ? value : printExact(value, 0);
}

/** Who changed what, newest first. */
export function Audit() {
  const [action, setAction] = useState("");
  const [who, setWho] = useState("");
  // An action is a resource and a deed; what is not written to its end is no filter yet.
  const asked = /^[a-z_]+\.[a-z_]+$/.test(action) ? { action } : {};
  const pages = useInfiniteQuery({
    queryKey: ["audit", asked],
    queryFn: ({ pageParam, signal }) =>
      bellhop.audit.page(
        { limit: 50, ...asked, ...(pageParam === null ? {} : { cursor: pageParam }) },
        { signal },
      ),
    placeholderData: keepPreviousData,
    initialPageParam: null as string | null,
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
  });
  const all = pages.data?.pages.flatMap((page) => page.events) ?? [];
  const shown = all.filter(({ actor }) => actor.name.toLowerCase().includes(who.trim().toLowerCase()));
  return (
    <Page title="Audit">
      <PageHead title="Audit">
        <Autocomplete
          aria-label="Only this change"
          placeholder="What: queue.paused"
          data={[...new Set(all.map((event) => event.action))].toSorted()}
          value={action}
          onChange={setAction}
        />
        <Autocomplete
          aria-label="Only by"
          placeholder="Who"
          data={[...new Set(all.map((event) => event.actor.name))].toSorted()}
          value={who}
          onChange={setWho}
        />
        <ExportMenu
          name="audit"
          rows={shown}
          toRow={({ actor, ...event }) => ({ ...event, actor: actor.name, actorKind: actor.kind })}
        />
      </PageHead>
      <section className="panel">
        <Loaded query={pages} rows={10}>
          {() =>
            shown.length > 0 ? (
              <Table rows={shown} keyOf={({ id }) => id} columns={COLUMNS} />
            ) : all.length > 0 ? (
              <Empty title="No change of theirs on this page">Older ones are fetched below.</Empty>
            ) : (
              <Empty title="No changes yet">Changes are listed here with their author.</Empty>
            )
          }
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
